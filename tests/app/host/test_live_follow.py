"""What another program appends is followed live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def line(entry_id: str, parent_id: str | None) -> dict[str, Any]:
    record = {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": "2026-01-06T10:00:00.000Z"}
    return {**record, "message": user(f"said in {entry_id}")}


def append(path: Path, record: dict[str, Any]) -> None:
    """Another program appends, and takes no lock."""
    path.write_text(path.read_text() + json.dumps(record) + "\n")


async def test_whoever_stands_at_the_end_goes_along(talk: Path, show: Any) -> None:
    """Issue 4: a whole run of entries."""
    async with await SessionManager.open(talk) as other, show(talk) as on:
        await other.append_message(user("from elsewhere"), entry_id="o1")
        await other.append_message(user("and more"), entry_id="o2")
        await other.append_label_change("o1", "mark")
        await on.until(lambda: on.session.leaf_id == other.leaf_id)
        assert "from elsewhere" in on.text and "and more" in on.text and "[label: mark]" in on.text
        assert "9 entries" in on.status


async def test_whoever_stands_elsewhere_stays_there(talk: Path, show: Any) -> None:
    """Issue 4: only the count goes up."""
    async with await SessionManager.open(talk) as other, show(talk) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.idle()
        await other.append_message(user("from elsewhere"))
        await on.until(lambda: "7 entries" in on.status)
        assert on.session.leaf_id == "a2"
        assert "from elsewhere" not in on.text


async def test_who_is_answered_stays_there(talk: Path, show: Any, script: Any, last: Any) -> None:
    """Issue 4: the answer hangs below its question, whatever comes meanwhile."""
    answers = script("so far", None)
    async with show(talk, answers=answers) as on:
        await on.send("go on")
        await on.until(answers.waits.is_set)
        asked = on.session.leaf_id
        append(talk, line("foreign", asked))
        await on.until(lambda: "8 entries" in on.status)
        assert on.session.leaf_id == asked
        await on.press("escape")
        await on.idle()
    assert (last(talk)["message"]["stopReason"], last(talk)["parentId"]) == ("aborted", asked)


async def test_a_session_that_was_rewritten_is_shown_as_it_is_now(talk: Path, show: Any) -> None:
    """D5: what is gone from the file is gone from the screen, where the leaf went."""
    async with show(talk) as on:
        header = talk.read_text().splitlines()[0]
        talk.write_text("\n".join([header, json.dumps(line("y", None)), json.dumps(line("z", "y"))]) + "\n")
        await on.until(lambda: on.session.leaf_id == "z")
        await on.until(lambda: "2 entries" in on.status)
        assert "said in z" in on.text
        assert "Still fine." not in on.text


async def test_a_file_that_is_gone_is_told(talk: Path, show: Any) -> None:
    """Case 13: and the program goes on."""
    async with show(talk) as on:
        talk.unlink()
        await on.until(lambda: on.told)
        assert on.app.is_running
        assert "Still fine." in on.text


async def test_a_new_session_is_followed_when_its_file_is_there(show: Any) -> None:
    """Issue 4."""
    async with show() as on:
        await on.run("first")
        path = Path(on.session.session_file)
        append(path, line("foreign", on.session.leaf_id))
        await on.until(lambda: on.session.leaf_id == "foreign")


@pytest.mark.parametrize(
    ("moved_by", "said", "leaf"), [("message", "gone there", "a3"), ("label", "already here", "l1")]
)
async def test_the_leaf_is_where_the_others_have_left_it(
    moved_by: str, said: str, leaf: str, talk: Path, show: Any
) -> None:
    """U-70 as settled: what was the leaf when the tree was opened is another place after a message, not a label."""
    async with await SessionManager.open(talk) as other, show(talk) as on:
        await on.open("/tree", "TreeSelector")
        if moved_by == "message":
            await other.append_message(user("from elsewhere"), entry_id="o1")
        else:
            await other.append_label_change("u1", "mark", entry_id="l1")
        await on.until(lambda: on.session.leaf_id == other.leaf_id)
        await on.press("enter")
        await on.until(lambda: on.status.startswith(said))
        assert on.session.leaf_id == leaf
