"""Lists of texts whose first items are in an index file, and tables of texts by rising numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from .index_file import IndexFile
from .stored_bytes import StoredBytes
from .stored_column import StoredColumn

_TOGETHER = 64
"""Texts that are decoded at once: their neighbours are asked for as a rule."""
_KEPT = 64


def encode_text(text: str) -> bytes:
    """Return any string as bytes, one with lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(text: bytes) -> str:
    """Return the string that `encode_text` was given."""
    return text.decode("utf-8", "surrogatepass")


class StoredTexts:
    """Texts, as bytes, one after the other: the part `name`, and in `name.ends` where each ends."""

    def __init__(self, file: IndexFile, name: str) -> None:
        self._bytes = StoredBytes(file, name)
        self._ends = StoredColumn(file, f"{name}.ends", "Q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> bytes:
        start = self._ends[index - 1] if index else 0
        return self._bytes.read(start, self._ends[index] - start)

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self), _TOGETHER):
            yield from self.slice(start, min(start + _TOGETHER, len(self)))

    def slice(self, start: int, stop: int) -> list[bytes]:
        """Return the texts from `start` on, before `stop`."""
        first = at = self._ends[start - 1] if start else 0
        data = self._bytes.read(first, self._ends[stop - 1] - first)
        texts = []
        for end in self._ends.slice(start, stop):
            texts.append(data[at - first : end - first])
            at = end
        return texts


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
        self._decoded: dict[int, list[str]] = {}

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
        if index >= self._known:
            return self._added[index - self._known]
        number, at = divmod(index, _TOGETHER)
        texts = self._decoded.get(number)
        return (texts if texts is not None else self._decode(number))[at]

    def _decode(self, number: int) -> list[str]:
        if len(self._decoded) >= _KEPT:
            self._decoded.clear()
        start = number * _TOGETHER
        texts = list(map(decode_text, self._stored.slice(start, min(start + _TOGETHER, len(self._stored)))))
        self._decoded[number] = texts
        return texts

    def __iter__(self) -> Iterator[str]:
        if self._known:
            self._added, self._known = [*map(decode_text, self._stored), *self._added], 0
            self._decoded.clear()
        return iter(self._added)

    def extend(self, texts: Iterable[str]) -> None:
        self._added.extend(texts)
