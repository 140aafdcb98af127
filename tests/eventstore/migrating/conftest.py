"""Sessions of older versions on the disk, and what version 3 makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(params=["version-1", "version-2"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path, old: bytes) -> Path:
    path = tmp_path / "sessions" / "session.jsonl"
    path.parent.mkdir()
    path.write_bytes(old)
    return path


@pytest.fixture
def old(name: str) -> bytes:
    return (DATA / f"{name}.jsonl").read_bytes()


@pytest.fixture
def migrated(name: str) -> bytes:
    return (DATA / f"{name}.as-3.jsonl").read_bytes()
