"""What all tests share: how fast a machine is decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a new machine the first text that is generated takes seconds: its tables of characters are made then.
settings.register_profile("sessiontree", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sessiontree")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Catalogues and indexes go into a cache directory of the test run's own."""
    with pytest.MonkeyPatch.context() as patch:
        directory = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(directory))
        yield directory
