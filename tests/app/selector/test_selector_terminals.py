"""What terminals send for the keys: the old ones, and those that tell every key with its modifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual._xterm_parser import XTermParser

from sessiontree.app.tree_filter import FilterMode

ALT = {"t": "no-tools", "u": "user-only", "l": "labeled-only", "a": "all", "o": "all", "d": "default"}


async def send(on: Any, typed: str) -> None:
    """Let the selector have what a terminal sends, and then nothing for a while."""
    parser = XTermParser()
    for event in [*parser.feed(typed), *parser.feed("")]:
        event.set_sender(on.host)
        on.host._driver.send_message(event)
    await on.press()


OLD = [("\x0f", "no-tools"), *((f"\x1b{letter}", mode) for letter, mode in ALT.items())]
NEW = [("\x1b[111;5u", "no-tools"), *((f"\x1b[{ord(letter)};3u", mode) for letter, mode in ALT.items())]
NEW += [("\x1b[111;6u", "all")]


@pytest.mark.parametrize("keys", [NEW, OLD])
async def test_a_filter_key_is_no_search_text(keys: list[tuple[str, str]], talk: Path, open_selector: Any) -> None:
    """U-62: Ctrl+O, Shift+Ctrl+O, and Alt with a letter; each from the default, `d` from another filter."""
    async with open_selector(talk) as on:
        for typed, mode in keys:
            on.model.set_mode(FilterMode.USER_ONLY if mode == "default" else FilterMode.DEFAULT)
            await send(on, typed)
            assert (typed, on.model.mode, on.model.query) == (typed, mode, "")


MOVES = [("\x1b[A", "a2"), ("\x1b[B", "u2"), ("\x1b[H", "u1"), ("\x1b[F", "a3"), ("\x1b[5~", "u1"), ("\x1b[6~", "a3")]
MOVES += [("\x1b[D", "u1"), ("\x1b[C", "a3"), ("\x1b[A\x1b[1;3A", "u1"), ("\x1b[1;3B", "u2"), ("\x1b[1;5D", "u1")]
MOVES += [("\x1b[1;3D", "u1"), ("\x1b[1;5C", "u2"), ("\x1b[1;3C", "u2"), ("\x1bb", "u1"), ("\x1bf", "u2")]


async def test_the_keys_that_move_are_no_search_text(talk: Path, open_selector: Any) -> None:
    """U-60, X-151: each from the leaf; Alt with an arrow may come as Escape, `b` or `f`."""
    async with open_selector(talk) as on:
        for typed, selected in MOVES:
            on.model.select_row(3)
            await send(on, typed)
            assert (typed, on.selected, on.model.query) == (typed, selected, "")


@pytest.mark.parametrize("typed", ["L", "\x1b[108;2;76u", "\x1b[76;2;76u"])
async def test_shift_l_of_any_terminal_edits_the_label(typed: str, talk: Path, open_selector: Any) -> None:
    """U-63."""
    async with open_selector(talk) as on:
        await send(on, typed)
        assert on.selector.query_one("#label").display


@pytest.mark.parametrize("typed", ["?", "\x1b[63;2;63u", "\x1b[47;2;63u", "\x1bOP", "\x1b[P"])
async def test_help_of_any_terminal(typed: str, talk: Path, open_selector: Any) -> None:
    """Settled, the terminal: F1 and `?`."""
    async with open_selector(talk) as on:
        await send(on, typed)
        assert on.selector.query_one("#help").display


@pytest.mark.parametrize(
    ("typed", "summarize"),
    [
        ("\r", False),
        ("\x1b[13u", False),
        ("\x1b[13;2u", True),
        ("\x1b[13;3u", True),
        ("\x13", True),
        ("\x1b\r", True),
    ],
)
async def test_enter_with_shift_or_alt_asks_for_a_summary(
    typed: str, summarize: bool, talk: Path, open_selector: Any
) -> None:
    """U-61, settled: Alt+Enter, and Ctrl+S, are for terminals that send nothing of their own for Shift+Enter."""
    async with open_selector(talk) as on:
        await send(on, typed)
        assert on.host.chosen == [("u3", summarize, True)]


async def test_text_that_is_typed_fast_or_by_an_input_method_is_searched(talk: Path, open_selector: Any) -> None:
    """U-58, case 73: several characters in one read, also one that joins the one before."""
    async with open_selector(talk) as on:
        await send(on, "会议 cafe\u0301")
        assert on.model.query == "会议 cafe\u0301"


async def test_a_label_that_is_typed_fast_is_recorded(talk: Path, open_selector: Any) -> None:
    """U-63: all its keys in one read."""
    async with open_selector(talk) as on:
        await send(on, "Lmark\r")
        assert (on.host.chosen, on.session.labels.get("u3")) == ([], "mark")
