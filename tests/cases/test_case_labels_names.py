"""Cases 61 to 63: labels and names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sessiontree import EntryNotFoundError, SessionManager, list_sessions

CopyCase = Callable[[str], Path]


async def test_a_label_of_an_unknown_entry_is_reported_in_a_file_and_refused_as_a_command(
    copy_case: CopyCase,
) -> None:
    """T-50, T-51: a target that comes later in the file is known."""
    path = copy_case("61")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        faults = [(fault.line, fault.kind, fault.id) for fault in session.report.faults]
        assert faults == [(4, "label-target", "l1"), (7, "label-target", "l3")]
        with pytest.raises(EntryNotFoundError, match="Entry nope0000 not found"):
            await session.append_label_change("nope0000", "x")
        assert (session.leaf_id, session.entry_count) == ("l3", 6)
        assert session.get_label("u9") == "early"
    assert path.read_bytes() == before


async def test_empty_null_and_absent_labels_clear(copy_case: CopyCase) -> None:
    """T-50, T-53: in file order over the whole file, whatever branch or time."""
    path = copy_case("62")
    async with await SessionManager.open(path) as session:
        assert [session.get_label(entry_id) for entry_id in ("a1", "a2")] == [None, None]
        await session.append_label_change("u1")
        assert session.get_label("u1") is None
        await session.append_label_change("u1", " gamma ")
        assert dict(session.labels) == {"r1": "final", "u1": " gamma "}
    async with await SessionManager.open(path) as session:
        assert dict(session.labels) == {"r1": "final", "u1": " gamma "}


@pytest.mark.parametrize(("entry_id", "name"), [("a1", "first name"), ("a2", "second name"), ("u1", "second name")])
async def test_a_fork_is_never_nameless(entry_id: str, name: str, copy_case: CopyCase) -> None:
    """F-55: the name on its own path, else the session's."""
    path = copy_case("63")
    async with await SessionManager.open(path) as session:
        fork = await session.create_branched_session(entry_id)
        assert session.session_name == name
    async with await SessionManager.open(str(fork)) as session:
        assert session.session_name == name
        infos = {info.id: info.name for info in await list_sessions(path.parent)}
        assert infos[session.session_id] == name
        assert len(infos) == 2


async def test_the_list_shows_a_name_as_soon_as_it_is_set(copy_case: CopyCase) -> None:
    """F-55: the last one in file order, trimmed, for the session and the list alike."""
    path = copy_case("63")
    async with await SessionManager.open(path) as session:
        (info,) = await list_sessions(path.parent)
        assert session.session_name == info.name == "second name"
        await session.set_session_name("third name")
        (info,) = await list_sessions(path.parent)
        assert session.session_name == info.name == "third name"
