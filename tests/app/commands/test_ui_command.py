"""`sessiontree ui` in this process, as if in a terminal."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import openai
import pytest
from textual.app import App

from sessiontree import AnthropicSummarizer, DigestSummarizer, OpenAISummarizer
from sessiontree.app.cli import main
from sessiontree.app.host.host_app import HostApp
from sessiontree.app.host.model_answers import AnthropicAnswers, OpenAIAnswers
from sessiontree.app.host.picker_screen import SessionPicker

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


@pytest.fixture(autouse=True)
def nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings and no key of the person who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


class Visit(NamedTuple):
    status: int
    out: str
    err: str
    apps: list[Any]


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Visit]:
    """Runs `ui` in this process as if on a terminal; each app that it shows is sent its own keys."""
    run_async = App.run_async

    def visit(*args: str | Path, keys: str = "", not_one: str = "", before: Sequence[str] = ()) -> Visit:
        rest = keys.split(" then ")
        apps: list[Any] = []

        async def headless(app: Any) -> Any:
            async def press(pilot: Any) -> None:
                await pilot.pause()
                for key in rest.pop(0).split():
                    if key == "read":
                        await app.workers.wait_for_complete()
                    else:
                        await pilot.press(*(key if key.startswith("/") else [key]))

            apps.append(app)
            return await run_async(app, headless=True, size=(100, 30), auto_pilot=press)

        with monkeypatch.context() as patch:
            patch.setattr(App, "run_async", headless)
            patch.setattr(sys, "stdin", io.StringIO())
            for name in ("stdin", "stdout", "stderr"):
                patch.setattr(getattr(sys, name), "isatty", lambda here=name != not_one: here)
            with pytest.raises(SystemExit) as ended:
                main.main([*before, "ui", *map(str, args)], prog_name="sessiontree")
        assert isinstance(ended.value.code, int)
        return Visit(ended.value.code, *capsys.readouterr(), apps)

    return visit


QUIT = "/quit enter"


def test_without_a_model_a_message_is_appended_and_summaries_are_digests(
    talk: Path, visit: Callable[..., Visit]
) -> None:
    """Issue 4."""
    ended = visit(talk, keys=f"h i enter {QUIT}")
    assert ended[:3] == (0, "", "")
    [app] = ended.apps
    assert isinstance(app, HostApp)
    assert (app._answers, type(app._summarizer)) == (None, DigestSummarizer)
    assert json.loads(talk.read_bytes().splitlines()[-1])["message"]["content"] == "hi"


@pytest.mark.parametrize(
    ("model", "key", "summarizer", "answers"),
    [
        ("openai:m:1", "OPENAI_API_KEY", OpenAISummarizer, OpenAIAnswers),
        ("anthropic:m:1", "ANTHROPIC_API_KEY", AnthropicSummarizer, AnthropicAnswers),
    ],
)
def test_a_model_answers_and_summarizes_through_one_client(
    model: str,
    key: str,
    summarizer: type,
    answers: type,
    talk: Path,
    visit: Callable[..., Visit],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 4: the client is closed at the end."""
    monkeypatch.setenv(key, "none")
    ended = visit(talk, "--model", model, keys=QUIT)
    assert ended[:3] == (0, "", "")
    [app] = ended.apps
    assert (type(app._summarizer), type(app._answers)) == (summarizer, answers)
    assert (app.settings.model, app.settings.agent_model().id) == (model, "m:1")
    assert app._answers._client is app._summarizer._client
    assert app._answers._client.is_closed()


def test_settings_are_those_of_the_file_and_the_option_goes_before(
    talk: Path, tmp_path: Path, visit: Callable[..., Visit]
) -> None:
    """Issue 4: `--config`; `--model` takes the place of the model there."""
    config = tmp_path / "other.toml"
    config.write_text("theme = 'light'\nmodel = 'openai:unused'\n")
    [app] = visit(talk, "--config", config, "--model", "digest", keys=QUIT).apps
    assert (app.settings.theme, app.settings.model, app.theme) == ("light", "digest", "textual-light")
    [picker] = visit("--sessions-dir", talk.parent, "--config", config, keys="escape").apps
    assert picker.theme == "textual-light"


def test_the_session_that_is_picked_is_shown(talk: Path, visit: Callable[..., Visit]) -> None:
    """Issue 4."""
    ended = visit("--sessions-dir", talk.parent, keys=f"read enter then {QUIT}")
    assert (ended.status, ended.apps[1].session.session_file) == (0, str(talk))


def test_whoever_picks_nothing_is_shown_nothing(talk: Path, visit: Callable[..., Visit]) -> None:
    """Issue 4: and no key is missed."""
    ended = visit("--sessions-dir", talk.parent, keys="escape")
    assert (*ended[:3], len(ended.apps)) == (0, "", "", 1)


def test_a_session_that_another_writer_holds_can_be_read(talk: Path, visit: Callable[..., Visit]) -> None:
    """D5: readers are let in."""
    before = talk.read_bytes()
    with talk.open("rb") as held:
        flock(held, LOCK_EX)
        assert visit(talk, keys=QUIT).status == 0
    assert talk.read_bytes() == before


def test_its_help_tells_what_it_takes(run: Callable[..., Any]) -> None:
    """Issue 4."""
    ended = run("ui", "--help")
    assert (ended.status, ended.out.startswith("Usage: sessiontree ui [OPTIONS] [FILE]")) == (0, True)
    assert all(f"  {option} " in ended.out for option in ("--sessions-dir", "--home", "--model", "--config"))


@pytest.fixture
def refused(visit: Callable[..., Visit]) -> Callable[..., str]:
    """Runs `ui`, which has to be refused before anything is drawn; returns its one line."""

    def refused(*args: str | Path, **options: Any) -> str:
        ended = visit(*args, keys="ctrl+c", **options)
        assert (ended.status, ended.out, ended.apps, ended.err.count("\n")) == (2, "", [], 1)
        assert ended.err.startswith("sessiontree: ")
        assert ended.err[:-1].isprintable()
        return ended.err[:-1]

    return refused


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none.jsonl"], "none.jsonl: no such file"),
        (["none"], "no session in {place} has an id that begins so"),
        (["{place}"], "is a directory"),
        (["{damaged}"], "no session header"),
        (["--sessions-dir", "/no/such"], "Invalid value for '--sessions-dir'"),
        (["{talk}", "--model", "other:m"], "'other:m' is not digest, openai:MODEL or anthropic:MODEL"),
        (["{talk}", "--model", "openai:"], "'openai:' is not digest, openai:MODEL or anthropic:MODEL"),
        (["{talk}", "--model", "digest:m"], "'digest:m' is not digest, openai:MODEL or anthropic:MODEL"),
        (["{talk}", "--model", "openai:m"], "no API key for openai: set OPENAI_API_KEY"),
        (["{talk}", "--model", "anthropic:m"], "no API key for anthropic: set ANTHROPIC_API_KEY"),
        (["{talk}", "--model", "\x1b[31m"], "is not digest"),
        (["{talk}", "--config", "/no/such.toml"], "/no/such.toml: no such file"),
        (["{talk}", "--config", "{place}"], "is a directory"),
        (["{talk}", "--config", "{talk}"], "{talk}: Invalid statement"),
        (["{talk}", "--what"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_shown_is_one_line(
    refused: Callable[..., str], talk: Path, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    damaged = tmp_path / "elsewhere" / "damaged.jsonl"
    damaged.parent.mkdir()
    damaged.write_text("no session\n")
    names = {"talk": talk, "place": talk.parent, "damaged": damaged}
    where = [] if "--sessions-dir" in arguments else ["--sessions-dir", talk.parent]
    assert reason.format(**names) in refused(*where, *(argument.format(**names) for argument in arguments))


@pytest.mark.parametrize(("content", "reason"), [(b"\xff", "is not UTF-8"), (b"colour = 1", "unknown field")])
def test_settings_that_are_wrong_are_one_line(
    refused: Callable[..., str], talk: Path, tmp_path: Path, content: bytes, reason: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_bytes(content)
    line = refused(talk, "--config", config)
    assert f"{config}: " in line
    assert reason in line


def test_a_model_that_is_wrong_in_the_settings_is_told_with_their_file(
    refused: Callable[..., str], talk: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("model = 'other:m'\n")
    assert f"{config}: " in refused(talk, "--config", config)


def test_a_model_of_other_bytes_than_utf8_is_told_by_the_name_of_its_option(
    refused: Callable[..., str], talk: Path
) -> None:
    assert "--model is not UTF-8" in refused(talk, "--model", "\udcff")


@pytest.mark.parametrize("package", [openai, anthropic], ids=lambda package: str(package.__name__))
def test_a_client_that_is_missing_or_fails_is_one_line(
    refused: Callable[..., str], talk: Path, package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = package.__name__

    def fail() -> None:
        raise ValueError("odd\naddress")

    monkeypatch.setattr(package, "AsyncOpenAI" if package is openai else "AsyncAnthropic", fail)
    assert f"{name}: odd" in refused(talk, "--model", f"{name}:m")
    monkeypatch.setitem(sys.modules, name, None)
    assert f"pip install 'sessiontree[{name}]'" in refused(talk, "--model", f"{name}:m")


def test_a_package_that_a_client_misses_is_an_error_of_its_own(
    talk: Path, visit: Callable[..., Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'httpx'", name="httpx")

    monkeypatch.setattr("sessiontree.app.summarizer_option.import_module", missing)
    ended = visit(talk, "--model", "openai:m")
    assert (ended.status, "unexpected ModuleNotFoundError: No module named 'httpx'" in ended.err) == (1, True)


def test_without_textual_it_says_what_to_install(
    refused: Callable[..., str], talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra `tui`: with a file, and without."""
    for name in [name for name in sys.modules if name.startswith("sessiontree.app.host.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    for arguments in ([talk], ["--sessions-dir", talk.parent]):
        assert "pip install 'sessiontree[tui]'" in refused(*arguments)


@pytest.mark.parametrize("not_one", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("with_file", [True, False])
def test_without_a_terminal_it_is_refused_in_one_line(
    with_file: bool, not_one: str, refused: Callable[..., str], talk: Path
) -> None:
    """As `tree -i`."""
    assert "terminal" in refused(*([talk] if with_file else ["--sessions-dir", talk.parent]), not_one=not_one)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("with_file", [True, False])
def test_an_interface_that_fails_ends_with_one_line(
    with_file: bool, debug: bool, talk: Path, visit: Callable[..., Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every other command: the traceback only with --debug, and never with the texts of a session."""

    async def fail(app: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr(HostApp if with_file else SessionPicker, "on_mount", fail)
    where = [talk] if with_file else ["--sessions-dir", talk.parent]
    ended = visit(*where, before=["--debug"] if debug else [])
    assert (ended.status, ended.out) == (1, "")
    lines = ended.err.splitlines()
    assert lines[-1].startswith("sessiontree: unexpected RuntimeError: odd")
    assert (len(lines) > 1, lines[0].startswith("Traceback")) == (debug, debug)
    assert "They pass." not in ended.err
