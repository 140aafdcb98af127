"""An app of the terminal interface that fails inside."""

from __future__ import annotations

import os
import signal

import click
import pytest
from textual import events, work
from textual.app import ComposeResult
from textual.widgets import Static

from sessiontree.app.host.host_app import HostApp
from sessiontree.app.host.picker_app import PickerApp
from sessiontree.app.selector.tree_app import TreeApp
from sessiontree.app.settings import Theme
from sessiontree.app.ui_app import UiApp


class Failing(UiApp[str]):
    """Fails in one of the places where code of an app runs."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place

    def _fail(self, place: str) -> None:
        if place == self._place:
            secret = "what was said"  # noqa: F841 - must not be printed
            raise ValueError("odd")

    def compose(self) -> ComposeResult:
        self._fail("compose")
        yield Static("shown")

    def on_mount(self) -> None:
        self._fail("handler")
        self.set_timer(0.001, lambda: self._fail("timer"))
        self.call_next(lambda: self._fail("callback"))
        self._work()

    @work
    async def _work(self) -> None:
        self._fail("worker")


@pytest.mark.parametrize("place", ["compose", "handler", "timer", "callback", "worker"])
async def test_what_fails_inside_is_raised_where_the_app_was_run(
    place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """And nothing is printed: a traceback would show the texts of a session."""
    app = Failing(place)
    with pytest.raises(ValueError, match=r"^odd$"):
        await app.run_async(headless=True)
    assert (app.return_code, *capfd.readouterr()) == (1, "", "")


@pytest.mark.parametrize("app", [HostApp, PickerApp, TreeApp])
def test_every_app_of_the_interface_is_one_of_these(app: type) -> None:
    assert issubclass(app, UiApp)


async def test_an_app_that_does_not_fail_gives_back_what_it_ends_with() -> None:
    app = Failing("")
    app.call_later(app.exit, "done")
    assert await app.run_async(headless=True) == "done"
    assert app.return_code == 0


@pytest.mark.parametrize(
    ("colours", "theme", "dark"),
    [
        ("", "auto", True),
        ("15;0", "auto", True),
        ("0;15", "auto", False),
        ("0;default;7", "auto", False),
        ("0;15", "dark", True),
        ("15;0", "light", False),
    ],
)
def test_the_theme_is_that_of_the_terminal_unless_it_is_set(
    colours: str, theme: Theme, dark: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 4: light and dark terminals."""
    monkeypatch.setenv("COLORFGBG", colours)
    assert UiApp[None](theme).current_theme.dark is dark


class Keeping(UiApp[None]):
    """Keeps the text of what it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[str | None] = []

    def on_key(self, event: events.Key) -> None:
        self.got.append(event.character)

    def on_paste(self, event: events.Paste) -> None:
        self.got.append(event.text)


async def test_a_letter_with_alt_is_no_text() -> None:
    """U-62: wherever the key goes that has no meaning there."""
    app = Keeping()
    async with app.run_test() as pilot:
        for key, character in (("alt+a", "a"), ("alt+upper_a", "A"), ("a", "a"), ("upper_a", "A")):
            app.post_message(events.Key(key, character))
        await pilot.pause()
    assert app.got == [None, None, "a", "A"]


async def test_what_is_pasted_is_clean_and_keeps_its_lines() -> None:
    """Case 73; terminals send a carriage return for each line end."""
    app = Keeping()
    async with app.run_test() as pilot:
        for text in ("one\rtwo\r\nthree\nfour", "a\x1b[31m\u202eb\x07"):
            app.post_message(events.Paste(text))
        await pilot.pause()
    assert app.got == ["one\ntwo\nthree\nfour", "a[31mb"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_that_ends_programs_ends_an_app_in_order(number: signal.Signals) -> None:
    """Its status is that of the signal, and afterwards the signal means what it meant before."""
    before = signal.getsignal(number)
    app = Failing("")
    app.call_later(os.kill, os.getpid(), number)
    with pytest.raises(click.exceptions.Exit) as raised:
        await app.run_async(headless=True)
    assert raised.value.exit_code == 128 + number
    assert signal.getsignal(number) == before
