"""Where sessions live (F-24, F-30..F-33 as settled): ours by default, those of pi and oh-my-pi on request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal

Home = Literal["pi", "omp"]
PathLike = str | os.PathLike[str]


def default_sessions_dir() -> Path:
    """Return `$SESSIONTREE_DIR`, else `~/.sessiontree/sessions`."""
    configured = os.environ.get("SESSIONTREE_DIR")
    return Path(configured) if configured else Path.home() / ".sessiontree" / "sessions"


def home_sessions_dir(home: Home) -> Path:
    """Return the sessions directory of pi or oh-my-pi, by the variables that those programs respect."""
    sessions = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    if sessions:
        return Path(os.path.expanduser(sessions))
    agent = os.environ.get("PI_CODING_AGENT_DIR")
    return (Path(os.path.expanduser(agent)) if agent else Path.home() / f".{home}" / "agent") / "sessions"


def canonical_cwd(cwd: PathLike) -> str:
    """Return a working directory without links and relative parts, whether it exists or not."""
    try:
        return os.path.realpath(cwd)
    except ValueError:
        # A recorded one that can be no path: a NUL, a lone surrogate.
        return os.fspath(cwd)


def directory_for(cwd: PathLike, sessions_dir: PathLike | None = None) -> Path:
    """Return where a new session of a working directory goes.

    An explicit directory takes files directly (F-33); below the default one each working directory has its
    own, with a readable name and a digest, so that no two share one.
    """
    if sessions_dir is not None:
        return Path(sessions_dir).absolute()
    canonical = canonical_cwd(cwd)
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(canonical)).strip("-.")[-80:] or "project"
    digest = sha256(os.fsencode(canonical)).hexdigest()[:32]
    return default_sessions_dir().absolute() / f"{readable}-{digest}"


def session_paths(sessions_dir: PathLike) -> Iterator[Path]:
    """Yield the `*.jsonl` files in a directory and one level below. A directory that is not there has none.

    Raises `OSError` for the directory itself; what cannot be listed below it is passed over.
    """
    try:
        entries = sorted(os.scandir(sessions_dir), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        if not _is_directory(entry):
            if entry.name.endswith(".jsonl"):
                yield Path(entry.path)
            continue
        try:
            inner = sorted(os.scandir(entry.path), key=lambda inner: inner.name)
        except OSError:
            # It vanished, or is not ours to read: the other directories are.
            continue
        yield from (Path(item.path) for item in inner if item.name.endswith(".jsonl") and not _is_directory(item))


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A loop of links leads nowhere.
        return False
