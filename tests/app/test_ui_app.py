"""An app of the terminal interface that fails inside."""

from __future__ import annotations

import pytest
from textual import work
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
