"""Generated sessions, kept in the system's temporary directory from one run to the next."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import generate, messages, profile, prose, shapes
from bench.figures import Figures
from bench.process import run_fresh

Build = Callable[..., Figures]
CACHE = Path(tempfile.gettempdir(), f"sessiontree-bench-{os.getuid()}")


def fixture(build: Build, **params: int | str) -> Path:
    """The directory that `build(directory, **params)` fills, made in a fresh process unless it is there.

    It is there when the generator's source, the number of files and their total size are as in its manifest.
    """
    name = "-".join([build.__name__, *(f"{key}={value}" for key, value in sorted(params.items()))])
    manifest, directory = CACHE / f"{name}.json", CACHE / name
    if not _holds(manifest, directory):
        manifest.unlink(missing_ok=True)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700, parents=True)
        run_fresh(f"{build.__module__}:{build.__name__}", directory=str(directory), **params)
        manifest.write_text(json.dumps(_account(directory)))
    return directory


def session(build: Build, **params: int | str) -> Path:
    """The session file of such a directory."""
    return fixture(build, **params) / "session.jsonl"


def _holds(manifest: Path, directory: Path) -> bool:
    try:
        return bool(json.loads(manifest.read_text()) == _account(directory))
    except (OSError, ValueError):
        return False


def _account(directory: Path) -> dict[str, object]:
    sizes = [entry.stat().st_size for entry in os.scandir(directory)]
    digest = hashlib.sha256()
    for module in (generate, messages, profile, prose, shapes):
        assert module.__file__ is not None
        digest.update(Path(module.__file__).read_bytes())
    return {"generator": digest.hexdigest(), "files": len(sizes), "bytes": sum(sizes)}
