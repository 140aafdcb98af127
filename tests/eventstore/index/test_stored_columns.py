"""Columns and texts behave as the arrays and lists that they stand for."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.eventstore.errors import IndexDamagedError
from sessiontree.eventstore.index.id_table import StoredIdTable, add_id_table
from sessiontree.eventstore.index.index_file import IndexFile
from sessiontree.eventstore.index.index_writer import IndexWriter
from sessiontree.eventstore.index.stored_bytes import StoredBytes
from sessiontree.eventstore.index.stored_column import Column, StoredColumn
from sessiontree.eventstore.index.stored_texts import StoredTable, StoredTexts, TextColumn, encode_text

MakeIndex = Callable[..., Coroutine[Any, Any, IndexFile]]

numbers = st.lists(st.integers(0, 2**32 - 1), max_size=40)
texts = st.lists(st.text(st.characters(), max_size=30) | st.just("x" * 200) | st.just("\ud800"), max_size=20)


def check_sequence(column: Any, model: Any, data: st.DataObject) -> None:
    """Each way of asking gives what the model gives."""
    assert len(column) == len(model)
    for index in range(-len(model), len(model)):
        assert column[index] == model[index]
    with pytest.raises(IndexError):
        column[len(model)]
    ends = st.none() | st.integers(-50, 50)
    for _ in range(3):
        part = slice(data.draw(ends), data.draw(ends))
        assert column[part] == model[part]


@settings(max_examples=60)
@given(data=st.data(), stored=numbers, added=numbers, typecode=st.sampled_from("IQ"))
def test_a_column_is_an_array(
    data: st.DataObject, stored: list[int], added: list[int], typecode: str, make_index: MakeIndex
) -> None:
    """ADR 9: items of the file and added ones, before and after it was gone through."""

    async def fill(writer: IndexWriter) -> None:
        await writer.add("before", [b"abc"])
        await writer.add_column("column", typecode, stored)
        await writer.add("behind", [b"x" * 9])

    file = asyncio.run(make_index(fill))
    column, model = Column(StoredColumn(file, "column", typecode)), array(typecode, stored)
    check_sequence(column, model, data)
    for number in added:
        column.append(number)
        model.append(number)
    column.extend(added)
    model.extend(added)
    if added:
        column[len(model) - 1] = model[-1] = 7
    check_sequence(column, model, data)
    column.extend([1, 2])
    del column[len(model) :]
    if data.draw(st.booleans()):
        assert list(column) == list(model)
    column.extend(map(column.__getitem__, range(len(stored))))
    model.extend(stored)
    check_sequence(column, model, data)


@settings(max_examples=60)
@given(data=st.data(), stored=texts, added=texts)
def test_a_text_column_is_a_list(
    data: st.DataObject, stored: list[str], added: list[str], make_index: MakeIndex
) -> None:
    """ADR 9: any text, with lone surrogates too, however long."""

    async def fill(writer: IndexWriter) -> None:
        await writer.add_texts("texts", map(encode_text, stored))

    file = asyncio.run(make_index(fill))
    assert list(StoredTexts(file, "texts")) == list(map(encode_text, stored))
    column, model = TextColumn(StoredTexts(file, "texts")), list(stored)
    check_sequence(column, model, data)
    column.extend(added)
    model.extend(added)
    check_sequence(column, model, data)
    if data.draw(st.booleans()):
        assert list(column) == model
        column.extend(added)
        model.extend(added)
    check_sequence(column, model, data)


@settings(max_examples=60)
@given(table=st.dictionaries(st.integers(0, 300), st.binary(max_size=80), max_size=30))
def test_a_table_holds_what_it_was_given(table: dict[int, bytes], make_index: MakeIndex) -> None:
    """ADR 9: texts by rising numbers."""

    async def fill(writer: IndexWriter) -> None:
        await writer.add_table("table", sorted(table.items()))

    file = asyncio.run(make_index(fill))
    stored = StoredTable(file, "table")
    assert list(stored.items()) == sorted(table.items())
    assert [stored.get(key) for key in range(302)] == [table.get(key) for key in range(302)]


@settings(max_examples=60)
@given(ids=st.lists(st.sampled_from(["", "a", "b", "\ud800", "x" * 200]) | st.text(max_size=3), max_size=200))
@pytest.mark.parametrize("same_hash", [False, True])
def test_an_id_is_found_at_its_last_number(ids: list[str], same_hash: bool, make_index: MakeIndex) -> None:
    """F-87: repeated ids, unknown ones, and ids of one hash."""

    async def fill(writer: IndexWriter) -> None:
        await writer.add_texts("ids", map(encode_text, ["", *ids]))
        await add_id_table(writer, map(encode_text, ids), len(ids))

    with pytest.MonkeyPatch.context() as patch:
        if same_hash:
            patch.setattr("sessiontree.eventstore.index.id_table._hash", lambda encoded: (1 << 64) - 1)
        file = asyncio.run(make_index(fill))
        table = StoredIdTable(file, StoredTexts(file, "ids"))
        assert table.last_seq == len(ids)
        expected = {text: seq for seq, text in enumerate(ids, 1)}
        for text in (*ids, "", "not there", "\udfff"):
            assert table.get(text) == expected.get(text, 0)


async def test_bytes_are_read_from_anywhere(make_index: MakeIndex) -> None:
    """ADR 9: within a block, over its edge, all of it."""
    content = bytes(range(256)) * 2

    async def fill(writer: IndexWriter) -> None:
        await writer.add("empty", [])
        await writer.add("bytes", [content[:100], content[100:]])

    file = await make_index(fill)
    stored = StoredBytes(file, "bytes")
    assert len(stored) == len(content)
    assert b"".join(stored.pieces()) == content
    for start in range(0, len(content), 13):
        for size in (0, 1, 24, 64, 130, len(content) - start):
            size = min(size, len(content) - start)
            assert stored.read(start, size) == content[start : start + size]
    with pytest.raises(IndexDamagedError, match="ends early"):
        stored.read(len(content), 64)
    assert StoredBytes(file, "empty").read(0, 0) == b""
