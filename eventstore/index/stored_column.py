"""Columns of numbers whose first items are in an index file, read a block at a time where they are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, overload

from .index_file import BLOCK, IndexFile

T = TypeVar("T")


class StoredColumn:
    """A part of an index file as numbers."""

    def __init__(self, file: IndexFile, name: str, typecode: str) -> None:
        self._file = file
        self.typecode = typecode
        self._offset, size = file.part(name)
        self._item = array(typecode).itemsize
        self._first = self._offset // self._item
        self._per_block = BLOCK // self._item
        self._count = size // self._item
        self._number = -1
        """Which block was asked for last."""
        self._block = memoryview(b"")

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> int:
        number, at = divmod(self._first + index, self._per_block)
        if number != self._number:
            self._take_block(number)
        return self._block[at]

    def _take_block(self, number: int) -> None:
        data = self._file.block(number)
        # The last block of the file may end within an item that is no longer of this part.
        self._block = memoryview(data)[: len(data) // self._item * self._item].cast(self.typecode)  # type: ignore[call-overload] # the stub takes literals alone
        self._number = number

    def slice(self, start: int, stop: int) -> array[int]:
        """Return the items from `start` on, before `stop`."""
        return array(self.typecode, self._file.read(self._offset + start * self._item, (stop - start) * self._item))


def first_items(column: Sequence[T], count: int) -> Iterator[T]:
    """Yield the first items of a column; whoever goes through a `Column` itself takes all of it into memory."""
    return (column[at] for at in range(count))


class Column(Sequence[int]):
    """What an `array` is, with its first items in an index file; what is added is in memory.

    Who goes through all of it takes all of it into memory.
    """

    def __init__(self, stored: StoredColumn) -> None:
        self._stored = stored
        self._known = len(stored)
        """How many items are in the file alone."""
        self._added = array(stored.typecode)

    def __len__(self) -> int:
        return self._known + len(self._added)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> array[int]: ...
    def __getitem__(self, index: int | slice) -> int | array[int]:
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            added = self._added[max(start - self._known, 0) : max(stop - self._known, 0)]
            return self._stored.slice(start, min(stop, self._known)) + added if start < self._known else added
        if index < 0:
            index += len(self)
        return self._stored[index] if index < self._known else self._added[index - self._known]

    def __setitem__(self, index: int, value: int) -> None:
        """Change an item that was added."""
        self._added[index - self._known] = value

    def __delitem__(self, index: slice) -> None:
        """Drop items that were added last."""
        del self._added[index.start - self._known :]

    def __iter__(self) -> Iterator[int]:
        if self._known:
            self._added, self._known = self._stored.slice(0, self._known) + self._added, 0
        return iter(self._added)

    def append(self, value: int) -> None:
        self._added.append(value)

    def extend(self, values: Iterable[int]) -> None:
        """Add items; each is there when the next one is made."""
        self._added.extend(values)
