"""Lists of texts whose first items are in an index file, and tables of texts by rising numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from .index_file import IndexFile
from .stored_column import StoredColumn


def encode_text(text: str) -> bytes:
    """Return any string as bytes, one with lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(text: bytes) -> str:
    """Return the string that `encode_text` was given."""
    return text.decode("utf-8", "surrogatepass")


class StoredTexts:
    """Texts, as bytes, one after the other: the part `name`, and in `name.ends` where each ends."""

    def __init__(self, file: IndexFile, name: str) -> None:
        self._file = file
        self._offset, _ = file.part(name)
        self._ends = StoredColumn(file, f"{name}.ends", "Q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> bytes:
        start = self._ends[index - 1] if index else 0
        return self._file.read(self._offset + start, self._ends[index] - start)

    def __iter__(self) -> Iterator[bytes]:
        ends = self._ends.slice(0, len(self._ends))
        data = self._file.read(self._offset, ends[-1]) if ends else b""
        start = 0
        for end in ends:
            yield data[start:end]
            start = end


class StoredTable:
    """Texts by number, for few of many: `StoredTexts`, and in the part `name.keys` their numbers, which rise."""

    def __init__(self, file: IndexFile, name: str) -> None:
        self._texts = StoredTexts(file, name)
        self._keys = StoredColumn(file, f"{name}.keys", "I")

    def get(self, key: int) -> bytes | None:
        """Return the text of a number, None where there is none."""
        at = bisect_left(self._keys, key)
        return self._texts[at] if at < len(self._keys) and self._keys[at] == key else None

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Yield all of it."""
        yield from zip(self._keys.slice(0, len(self._keys)), self._texts, strict=True)


class TextColumn(Sequence[str]):
    """What a list of strings is, with its first items in an index file; what is added is in memory.

    Who goes through all of it takes all of it into memory.
    """

    def __init__(self, stored: StoredTexts) -> None:
        self._stored = stored
        self._known = len(stored)
        self._added: list[str] = []

    def __len__(self) -> int:
        return self._known + len(self._added)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        return decode_text(self._stored[index]) if index < self._known else self._added[index - self._known]

    def __iter__(self) -> Iterator[str]:
        if self._known:
            self._added, self._known = [*map(decode_text, self._stored), *self._added], 0
        return iter(self._added)

    def extend(self, texts: Iterable[str]) -> None:
        self._added.extend(texts)
