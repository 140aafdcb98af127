"""What the rows say comes in slices, and is what `sessiontree tree` prints (U-15, U-43, D15)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.app.progress import Progress
from sessiontree.app.selector.row_reading import RowReader
from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.tree_source import visible_rows
from sessiontree.eventstore.abort import AbortController
from sessiontree.eventstore.errors import AbortError

Write = Callable[..., Path]
QUERIES = ("", "pass", "GREEN", "make test", "bash", "then commit", "dn", "acme", "no content", "nowhere", "Zzz")


async def read_all(
    session: SessionManager, mode: FilterMode = FilterMode.DEFAULT, *, row: int | None = None
) -> TreeModel:
    """The model when every text was read, beginning around a row."""
    model = TreeModel(session, mode=mode)
    model.select_row(model.row if row is None else row)
    async for _ in RowReader(session, model, home="").read(AbortController().signal):
        pass
    model.refresh()
    return model


async def printed(session: SessionManager, mode: FilterMode, query: str = "") -> dict[str, str]:
    """The rows that `sessiontree tree` prints, text by id."""
    rows = await visible_rows(session, mode=mode, query=query, home="", progress=Progress(""))
    return {entry_id: rows.texts[entry_id] for entry_id in rows.lay_out(session.columns).ids}


def shown(model: TreeModel) -> dict[str, str | None]:
    return {entry_id: model.text_of(row) for row, entry_id in enumerate(model.rows.ids)}


@pytest.mark.parametrize("mode", list(FilterMode))
async def test_the_rows_are_those_that_are_printed(mode: FilterMode, talk: Path) -> None:
    """U-30..U-5A: the same rows with the same texts in the same order, for every filter and query."""
    async with await SessionManager.open(talk) as session:
        model = await read_all(session)
        model.set_mode(mode)
        for query in QUERIES:
            model.set_query(query)
            expected = await printed(session, mode, query)
            assert (list(shown(model)), shown(model)) == (list(expected), expected)


async def test_a_search_looks_in_more_than_a_row_shows(write: Write) -> None:
    """U-5A as settled: the whole of a long text, and a compaction's summary."""
    long = {"id": "u1", "message": {"role": "user", "content": "x " * 300 + "needle"}}
    compaction = {"id": "k1", "type": "compaction", "summary": "chose a hashtable", "tokensBefore": 5000}
    async with await SessionManager.open(write(long, compaction)) as session:
        model = await read_all(session)
        for query, found in (("needle", ["u1"]), ("hashtable", ["k1"])):
            model.set_query(query)
            assert list(shown(model)) == list(await printed(session, FilterMode.DEFAULT, query)) == found
            assert query not in (model.text_of(0) or "")


async def test_a_label_is_searched_as_it_is_shown(write: Write) -> None:
    """U-5A, case 67."""
    label = {"type": "label", "id": "l1", "targetId": "u1", "label": "un\x1b\x1b\x1b\x1bted wo\x1crd"}
    path = write({"id": "u1", "message": {"role": "user", "content": "text"}}, label)
    async with await SessionManager.open(path) as session:
        model = await read_all(session)
        for query in ("unted", "word"):
            model.set_query(query)
            assert list(shown(model)) == list(await printed(session, FilterMode.DEFAULT, query)) == ["u1"]


def tool_use(number: int) -> list[dict[str, Any]]:
    """A call and its result, which says what was called."""
    call = {"type": "toolCall", "id": f"t{number}", "name": "bash", "arguments": {"command": f"run {number}"}}
    made = {"role": "assistant", "content": [{"type": "text", "text": "run it"}, call]}
    result = {"role": "toolResult", "toolCallId": f"t{number}", "toolName": "bash", "content": "ok"}
    return [{"id": f"a{number}", "message": made}, {"id": f"r{number}", "message": result}]


async def test_a_result_that_is_shown_without_its_call_says_what_was_called(write: Write) -> None:
    """U-15, U-43, U-53: the calls are those of all assistant messages, also of hidden rows."""
    label = {"type": "label", "id": "l1", "targetId": "r1", "label": "here"}
    async with await SessionManager.open(write(*tool_use(1), label)) as session:
        model = await read_all(session, FilterMode.LABELED_ONLY)
        assert shown(model) == {"r1": "[bash: run 1]"}


async def test_every_result_of_a_long_session_says_what_was_called(write: Write) -> None:
    """U-15, U-43: wherever the part that is read first begins."""
    records = [record for number in range(400) for record in tool_use(number)]
    odd = [{"id": entry_id, "message": {"role": "user"}} for entry_id in ("u1", "u2")]
    async with await SessionManager.open(write(*records, *odd)) as session:
        texts = shown(await read_all(session))
        assert [texts[f"r{number}"] for number in range(400)] == [f"[bash: run {number}]" for number in range(400)]


async def test_a_result_that_stands_before_its_call_in_the_file_says_what_was_called(write: Write) -> None:
    """U-15, T-25: a line order that other programs leave, far from the selection."""
    call, result = tool_use(1)
    far = [{"id": f"u{number}", "message": {"role": "user", "content": "x"}} for number in range(700)]
    records = [{**result, "parentId": "a1"}, {**call, "parentId": "u0"}, {**far[0], "parentId": None}, *far[1:]]
    async with await SessionManager.open(write(*records)) as session:
        assert shown(await read_all(session, row=0))["r1"] == "[bash: run 1]"


@pytest.mark.parametrize(("selected", "first", "last"), [(0, 0, 299), (500, 200, 799), (999, 699, 999)])
async def test_the_rows_around_the_selection_are_read_first(
    selected: int, first: int, last: int, write: Write
) -> None:
    """D15: then all others, a slice at a time."""
    path = write(*({"id": f"n{number}", "message": {"role": "user", "content": "x"}} for number in range(1000)))
    async with await SessionManager.open(path) as session:
        model = TreeModel(session)
        model.select_row(selected)
        slices = []
        async for _ in RowReader(session, model, home="").read(AbortController().signal):
            slices.append([row for row in range(1000) if model.text_of(row) is not None])
        assert slices[0] == list(range(first, last + 1))
        assert len(slices) >= 3
        assert slices[-1] == list(range(1000))


async def test_reading_stops_when_it_is_told_to(talk: Path) -> None:
    """The selector was closed."""
    controller = AbortController()
    async with await SessionManager.open(talk) as session:
        reader = RowReader(session, TreeModel(session), home="").read(controller.signal)
        await anext(reader)
        controller.abort()
        with pytest.raises(AbortError):
            await anext(reader)


async def test_the_home_directory_is_written_short(write: Write) -> None:
    """U-43."""
    call = {"type": "toolCall", "id": "t", "name": "read", "arguments": {"path": "/home/me/notes.txt"}}
    made = {"id": "a", "message": {"role": "assistant", "content": [{"type": "text", "text": "read"}, call]}}
    path = write(made, {"id": "r", "message": {"role": "toolResult", "toolCallId": "t", "content": "ok"}})
    async with await SessionManager.open(path) as session:
        model = TreeModel(session)
        async for _ in RowReader(session, model, home="/home/me").read(AbortController().signal):
            pass
        assert model.text_of(1) == "[read: ~/notes.txt]"
