"""What was found out about session files, kept in the user's cache directory; deleting it is always safe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import aiofiles
import aiofiles.os
import msgspec
from msgspec import Struct

from .cache_directory import cache_directory
from .catalogue import SessionInfo
from .temporary_name import temporary_name

_FORMAT = 1
_MOST = 20_000


class _Content(Struct, frozen=True):
    format: int
    sessions: list[SessionInfo]


_decoder = msgspec.json.Decoder(_Content, dec_hook=lambda kind, text: kind(text))


class CatalogueCache:
    """The cache of one sessions directory. A directory that is only looked at stays as it was."""

    def __init__(self, sessions_dir: Path) -> None:
        digest = sha256(os.fsencode(os.path.realpath(sessions_dir))).hexdigest()[:32]
        self.path = cache_directory() / f"catalogue-{digest}.json"

    async def load(self) -> dict[Path, SessionInfo]:
        """Return what is known; nothing where the cache is missing, damaged or of another version."""
        try:
            async with aiofiles.open(self.path, "rb") as file:
                content = _decoder.decode(await file.read())
        except (OSError, ValueError):
            return {}
        return {info.path: info for info in content.sessions} if content.format == _FORMAT else {}

    async def save(self, sessions: Iterable[SessionInfo]) -> None:
        """Replace the cache. Raises `OSError`, and `ValueError` for a path that is no text."""
        content = msgspec.json.encode(_Content(_FORMAT, list(sessions)[:_MOST]), enc_hook=os.fspath)
        await aiofiles.os.makedirs(self.path.parent, mode=0o700, exist_ok=True)
        temporary = temporary_name(self.path)
        try:
            async with aiofiles.open(temporary, "xb") as file:
                await file.write(content)
            await aiofiles.os.replace(temporary, self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
