"""The other commands, their completion, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager

Last = Callable[[Path], dict[str, Any]]


async def test_label_labels_the_leaf(talk: Path, show: Any, last: Last) -> None:
    """U-78: and without text clears it; the label entry is the leaf then."""
    async with show(talk) as on:
        await on.run("/label  half way ")
        assert on.status.startswith("labelled half way")
        assert dict(on.session.labels) == {"a3": "half way"}
        assert (last(talk)["type"], last(talk)["targetId"]) == ("label", "a3")
        on.session.branch("a3")
        await on.run("/label")
        assert on.status.startswith("label cleared")
        assert dict(on.session.labels) == {}
    assert last(talk)["targetId"] == "a3"


@pytest.mark.parametrize(("text", "labels"), [("/label", {}), ("/label better", {"a3": "better"})])
async def test_a_second_label_is_of_the_same_entry(text: str, labels: dict[str, str], talk: Path, show: Any) -> None:
    """U-70 as settled: a label entry is stood for by the entry above it."""
    async with show(talk) as on:
        await on.run("/label good")
        await on.run(text)
        assert dict(on.session.labels) == labels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/label x", "nothing to label here"),
        ("/name", "/name TEXT names the session"),
        ("/nonsense now", "there is no /nonsense: / lists the commands"),
        ("/tree here", "/tree takes no text"),
    ],
)
async def test_what_cannot_be_done_is_told(text: str, said: str, show: Any) -> None:
    """Issue 4: nothing is written."""
    async with show() as on:
        await on.run(text)
        assert on.status.startswith(said)
        assert on.editor.text == (text if text in ("/nonsense now", "/tree here") else "")
        assert on.session.entry_count == 0


async def test_compact_summarizes_what_is_older(chain: Any, show: Any, summaries: Any, last: Last) -> None:
    """K-60: with what is to be kept in mind."""
    path = chain(12)
    lines = path.read_text().replace("turn", "turn " + "word " * 8_000)
    path.write_text(lines)
    async with show(path, summarizer=summaries) as on:
        await on.run("/compact mind the gap")
        assert on.status.startswith("compacted: ") and "tokens before" in on.status
        assert "── compaction ──" in on.text
        assert any("mind the gap" in asked.prompt for asked in summaries.asked)
    assert last(path)["type"] == "compaction"


async def test_a_digest_compacts_without_a_model(chain: Any, show: Any, last: Last) -> None:
    """D11."""
    path = chain(12)
    path.write_text(path.read_text().replace("turn", "turn " + "word " * 8_000))
    async with show(path) as on:
        await on.run("/compact")
    assert (last(path)["type"], last(path)["details"]["digest"]) == ("compaction", True)


async def test_nothing_to_compact_is_told(talk: Path, show: Any) -> None:
    """K-63: and no loader stays."""
    before = talk.read_bytes()
    async with show(talk) as on:
        await on.run("/compact")
        assert len(on.told) == 1 and "compact" in on.told[0].lower()
        assert "Esc stops it" not in on.status
    assert talk.read_bytes() == before


async def test_escape_stops_a_compaction(chain: Any, show: Any, summaries: Any) -> None:
    """K-69, U-05: nothing has changed."""
    path = chain(12)
    path.write_text(path.read_text().replace("turn", "turn " + "word " * 8_000))
    before = path.read_bytes()
    summaries.blocked = True
    async with show(path, summarizer=summaries) as on:
        await on.send("/compact")
        await on.until(summaries.waits.is_set)
        assert on.status.startswith("compacting … Esc stops it")
        await on.press("escape")
        await on.idle()
        assert on.status.startswith("stopped")
    assert path.read_bytes() == before


async def test_name_names_the_session(talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        await on.run("/name of the rose")
        assert on.status.startswith("of the rose  ·  ")
        assert on.session.session_name == "of the rose"


async def test_new_begins_a_session_and_leaves_the_old_one(talk: Path, show: Any) -> None:
    """Issue 4."""
    before = talk.read_bytes()
    async with show(talk) as on:
        await on.run("/new")
        assert "Nothing was said yet." in on.text
        await on.run("hello again")
        assert Path(on.session.session_file) != talk
        assert "hello again" in on.text
    assert talk.read_bytes() == before


async def test_export_writes_text(talk: Path, show: Any, own_home: Path) -> None:
    """Issue 4: into the file that was named, or one after the session."""
    async with show(talk) as on:
        await on.run("/export ~/talk.txt")
        assert on.status.startswith(f"written to {own_home}"[:40])
        await on.run("/export")
        assert on.told == []
    text = (own_home / "talk.txt").read_text()
    assert "look again" in text and "then commit" not in text
    assert (own_home / "019b8d00-0000-7000-8000-000000000001.txt").read_text() == text


@pytest.mark.parametrize("name", ["there.txt", "no/such/place.txt"])
async def test_export_overwrites_nothing_and_tells_what_failed(
    name: str, talk: Path, show: Any, own_home: Path
) -> None:
    """Issue 4."""
    (own_home / "there.txt").write_text("mine")
    async with show(talk) as on:
        await on.run(f"/export {name}")
        assert len(on.told) == 1 and name in on.told[0]
    assert (own_home / "there.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["~nobody-of-that-name/x.txt", "no/such/place/x.txt"])
async def test_a_name_that_no_file_can_have_is_told(name: str, talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        await on.run(f"/export {name}")
        assert on.app.is_running
        assert len(on.told) == 1


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_resume_opens_what_is_picked(key: str, talk: Path, write: Any, show: Any) -> None:
    """Issue 4: the other session is closed."""
    record = {"id": "z1", "message": {"role": "user", "content": "elsewhere"}}
    other = write(record, name="other.jsonl", id="029b8d00-0000-7000-8000-000000000002")
    async with show(talk) as on:
        await on.run("first")
        await on.open("/resume", "SessionPicker")
        await on.until(lambda: "2 of 2 sessions" in on.text)
        await on.press(*"029b")
        await on.press("escape", "escape") if key == "escape" else await on.press("enter")
        await on.idle()
        assert ("elsewhere" in on.text) is (key == "enter")
        assert Path(on.session.session_file) == (other if key == "enter" else talk)
        if key == "enter":
            async with await SessionManager.open(talk) as free:
                await free.append_message({"role": "user", "content": "mine now"})
            await on.run("second")
            assert "second" in on.text


async def test_the_session_that_is_open_can_be_picked_again(talk: Path, show: Any) -> None:
    """Issue 4: also when this program wrote it."""
    async with show(talk) as on:
        await on.run("first")
        await on.open("/resume", "SessionPicker")
        await on.until(lambda: "1 of 1 sessions" in on.text)
        await on.press("enter")
        await on.idle()
        await on.run("second")
        assert on.told == []
        assert "first" in on.text and "second" in on.text


async def test_quit_leaves(talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        await on.send("/quit")
        await on.until(lambda: not on.app.is_running)


@pytest.mark.parametrize(
    ("typed", "offered", "completed"),
    [
        ("/", "/tree /branch /label /compact /name /new /resume /export /quit", "/tree"),
        ("/n", "/name /new", "/name"),
        ("/co", "/compact", "/compact "),
        ("/tree", "", "/tree"),
        ("/name ", "", "/name "),
        ("/nonsense", "", "/nonsense"),
    ],
)
async def test_tab_completes_a_command(typed: str, offered: str, completed: str, talk: Path, show: Any) -> None:
    """Issue 4: what it may become is shown while it is typed."""
    async with show(talk) as on:
        on.editor.prefill(typed)
        await on.pilot.pause()
        hint = on.app.query_one("#commands")
        assert (hint.display, " ".join(str(hint.render()).split())) == (bool(offered), offered)
        await on.press("tab")
        assert on.editor.text == completed


@pytest.mark.parametrize("key", ["shift+enter", "alt+enter", "ctrl+j"])
async def test_a_message_can_have_lines(key: str, talk: Path, show: Any, last: Last) -> None:
    """Issue 4; a blank editor sends nothing."""
    before = talk.read_bytes()
    async with show(talk) as on:
        await on.press("space", "enter")
        assert (on.editor.text, talk.read_bytes()) == (" ", before)
        await on.press("backspace", "a", key, "b", "enter")
        await on.idle()
    assert last(talk)["message"]["content"] == "a\nb"


async def test_a_session_is_followed_after_a_new_one_that_failed(talk: Path, show: Any, monkeypatch: Any) -> None:
    """Issue 4: a session that another process writes is followed live."""

    async def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    async with show(talk) as on:
        monkeypatch.setattr(on.session, "new_session", refuse)
        await on.run("/new")
        assert "No space left" in on.told[0]
        assert [worker for worker in on.app.workers if worker.name == "_follow"]
