"""What the tests of index files share: a file of parts, in blocks so small that everything crosses one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.index import index_file, index_writer, stored_bytes, stored_column, stored_texts
from sessiontree.eventstore.index.coverage import Coverage
from sessiontree.eventstore.index.index_file import IndexFile
from sessiontree.eventstore.index.index_writer import IndexWriter

COVERAGE = Coverage(1, 2, 3, 4, 5, 6, 7, 8, [])


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """Blocks of 64 bytes, few of which are kept."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (index_file, index_writer, stored_bytes, stored_column):
            patch.setattr(module, "BLOCK", 64)
        patch.setattr(index_writer, "_AT_ONCE", 128)
        patch.setattr(index_writer, "_SLICE", 3)
        patch.setattr(index_file, "_KEPT", 2)
        patch.setattr(stored_texts, "_TOGETHER", 3)
        patch.setattr(stored_texts, "_KEPT", 2)
        yield


@pytest.fixture(scope="module")
def write_index(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Awaitable[Path]]:
    """Writes an index file by a function that is given the writer; returns its path."""
    numbers = iter(range(1 << 30))
    directory = tmp_path_factory.mktemp("indexes")

    async def write(fill: Callable[[IndexWriter], Awaitable[None]], **state: Any) -> Path:
        path = directory / f"{next(numbers)}.idx"
        writer = IndexWriter(path)
        try:
            await fill(writer)
            await writer.publish(COVERAGE, state)
        finally:
            writer.close()
        return path

    return write


@pytest.fixture(scope="module")
def make_index(write_index: Callable[..., Awaitable[Path]]) -> Callable[..., Coroutine[Any, Any, IndexFile]]:
    """Writes an index file, and opens it."""

    async def make(fill: Callable[[IndexWriter], Awaitable[None]], **state: Any) -> IndexFile:
        file = IndexFile.open(await write_index(fill, **state))
        assert file is not None
        return file

    return make
