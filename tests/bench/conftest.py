"""Makes `bench` importable without the root on `sys.path`, which would show the library twice."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("bench", Path(__file__).resolve().parents[2] / "bench" / "__init__.py")
assert _SPEC is not None and _SPEC.loader is not None
_BENCH = importlib.util.module_from_spec(_SPEC)
sys.modules.setdefault("bench", _BENCH)
_SPEC.loader.exec_module(_BENCH)
