"""The sessions of a directory, in the order of their last activity, from a bounded part of each file (F-92)."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from .abort import AbortSignal
from .directories import PathLike, canonical_cwd, default_sessions_dir, session_paths
from .errors import AmbiguousSessionError, NotASessionError, SessionFileError, SessionNotFoundError
from .header import CURRENT_VERSION, HEADER_LIMIT, HeaderPlace, find_header
from .migrations import Migration
from .scanner import scan_chunk
from .timestamps import FIRST_MS, LAST_MS, instant_ms
from .worker import run_in_thread

_PREFIX = 16 << 10
_TAIL = 64 << 10
_PART = 1 << 20
_FILES_AT_ONCE = 32

Stamp = tuple[int, int, int]
"""Size, time and inode of a file: what its cached description is good for."""


class SessionInfo(Struct, frozen=True):
    """What a list shows of one session.

    `modified`: the newest readable time of its messages, the file's own time only where there is none.
    `name`, `message_count`, `branch_count` (ends of branches) and `fault_count` are None until the file was
    scanned. `fault`: why the file is no session; then there is no `id`.
    """

    path: Path
    stamp: Stamp
    size: int
    modified: datetime
    id: str | None = None
    cwd: str | None = None
    created: str | None = None
    parent_session: str | None = None
    version: int | None = None
    is_link: bool = False
    name: str | None = None
    message_count: int | None = None
    branch_count: int | None = None
    fault_count: int | None = None
    fault: str | None = None


def stamp_of(path: Path) -> Stamp | None:
    """Return a file's stamp, None where it is gone."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


async def catalogue(
    sessions_dir: PathLike | None = None,
    *,
    cwd: PathLike | None = None,
    known: Mapping[Path, SessionInfo] | None = None,
    progress: Callable[[int, int], None] | None = None,
    signal: AbortSignal | None = None,
) -> list[SessionInfo]:
    """Return the sessions of a directory, newest activity first; files that are no sessions come last.

    `cwd`: only those of a working directory. `known`: what was found before, good while a file's stamp is the
    same. `progress(done, of)` hears how far it is. Files that vanish meanwhile are left out. Raises
    `SessionFileError` where the directory cannot be listed, `AbortError`.
    """
    directory = Path(sessions_dir if sessions_dir is not None else default_sessions_dir()).absolute()
    try:
        paths = await run_in_thread(lambda: list(session_paths(directory)))
    except OSError as error:
        raise SessionFileError(directory, error) from error
    found: list[SessionInfo] = []
    for start in range(0, len(paths), _FILES_AT_ONCE):
        if signal is not None:
            signal.raise_if_aborted()
        found += await run_in_thread(_describe_all, paths[start : start + _FILES_AT_ONCE], known or {})
        if progress is not None:
            progress(min(start + _FILES_AT_ONCE, len(paths)), len(paths))
        await asyncio.sleep(0)
    if cwd is not None:
        wanted = canonical_cwd(cwd)
        found = [info for info in found if info.cwd is not None and canonical_cwd(info.cwd) == wanted]
    # Sorted by path before: the order is the same every time.
    return sorted(found, key=lambda info: (info.fault is not None, -info.modified.timestamp()))


def _describe_all(paths: Sequence[Path], known: Mapping[Path, SessionInfo]) -> list[SessionInfo]:
    infos = []
    for path in paths:
        stamp = stamp_of(path)
        info = known.get(path)
        # A fault may have been the system's, and be over.
        if stamp is not None and (info is None or info.stamp != stamp or info.fault is not None):
            info = describe(path, stamp)
        if stamp is not None and info is not None:
            infos.append(info)
    return infos


def describe(path: Path, stamp: Stamp) -> SessionInfo | None:
    """Describe one file from its header and its end; None where it vanished. Blocks."""
    size, mtime_ns, _ = stamp
    info = SessionInfo(path, stamp, size, _moment(mtime_ns / 1e6), is_link=path.is_symlink())
    try:
        # Opening a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return msgspec.structs.replace(info, fault="no regular file")
            place = _read_header(file.fileno(), path, size)
            newest = _newest_message(file.fileno(), place, size)
    except FileNotFoundError:
        return None
    except NotASessionError as error:
        return msgspec.structs.replace(info, fault=f"line {error.line}: {error.detail}" if size else "empty file")
    except OSError as error:
        return msgspec.structs.replace(info, fault=error.strerror or str(error))
    header = place.header
    return msgspec.structs.replace(
        info,
        id=header.id,
        cwd=header.cwd,
        created=header.timestamp,
        parent_session=header.parent_session,
        version=header.version,
        modified=_moment(newest) if newest is not None else info.modified,
    )


def _moment(milliseconds: float) -> datetime:
    # A file's own time may lie beyond the years that a datetime can hold.
    return datetime.fromtimestamp(min(max(milliseconds, FIRST_MS), LAST_MS) / 1000, UTC)


def _read_header(fd: int, path: Path, size: int) -> HeaderPlace:
    for limit in (_PREFIX, HEADER_LIMIT):
        prefix = os.pread(fd, limit, 0)
        try:
            return find_header(prefix, path, whole_file=len(prefix) >= size)
        except NotASessionError:
            if limit == HEADER_LIMIT or len(prefix) < limit:
                raise
    raise AssertionError("unreachable")


def _newest_message(fd: int, place: HeaderPlace, size: int) -> float | None:
    """Return the newest readable message time in milliseconds: of the tail, else of the whole file, from its end."""
    start, end, part = place.offset + place.length, size, _TAIL
    while end > start:
        begin = max(start, end - part)
        data = os.pread(fd, end - begin, begin)
        # The first line may begin before the part: it is read with the part before, whole.
        cut = data.find(b"\n") + 1 if begin > start else 0
        if begin > start and cut in (0, len(data)):
            part *= 4
            continue
        newest = _newest_in(data[cut:], place.header.version)
        if newest is not None:
            return newest
        end, part = begin + cut, _PART
    return None


def _newest_in(lines: bytes, version: int) -> float | None:
    migration = Migration(version) if version < CURRENT_VERSION else None
    times = (
        instant_ms(envelope.timestamp)
        for envelope in scan_chunk(lines, 0, 1, migration).envelopes
        if envelope.type == "message"
    )
    return max((time for time in times if time is not None), default=None)


async def find_session(
    target: PathLike, sessions_dir: PathLike | None = None, *, signal: AbortSignal | None = None
) -> Path:
    """Return the file of a path, a session id or a unique prefix of one (F-24).

    Raises `SessionNotFoundError`, `AmbiguousSessionError`, `SessionFileError`.
    """
    text = os.fspath(target)
    if not text or "\0" in text:
        raise SessionNotFoundError(text, "can be no session")
    path = Path(text)
    if os.path.lexists(path) or os.sep in text or text.endswith(".jsonl"):
        if not os.path.exists(path):
            raise SessionNotFoundError(text, "no such file")
        return path
    infos = [info for info in await catalogue(sessions_dir, signal=signal) if info.id is not None]
    exact = [info for info in infos if info.id == text]
    found = exact or [info for info in infos if (info.id or "").startswith(text)]
    # A link beside its file is the same session.
    by_file: dict[str, Path] = {}
    for info in found:
        by_file.setdefault(os.path.realpath(info.path), info.path)
    matches = list(by_file.values())
    if not matches:
        raise SessionNotFoundError(text, "no file and no session id that begins so")
    if len(matches) > 1:
        raise AmbiguousSessionError(text, matches)
    return matches[0]


async def most_recent(
    sessions_dir: PathLike | None, cwd: PathLike, *, signal: AbortSignal | None = None
) -> Path | None:
    """Return the session of a working directory with the newest activity (F-92), None where there is none."""
    infos = await catalogue(sessions_dir, cwd=cwd, signal=signal)
    return next((info.path for info in infos if info.fault is None), None)
