"""Settings: a file that may be missing, and what a wrong one is told."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from sessiontree import Model
from sessiontree.app.settings import DEFAULTS, Settings, SettingsError, read_settings, settings_path
from sessiontree.app.tree_filter import FilterMode

Put = Callable[[str | bytes], Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a settings file."""

    def put(content: str | bytes) -> Path:
        path = tmp_path / "config.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def refused(path: Path) -> str:
    """Why a file holds no settings; the error names the file, in one line."""
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert (caught.value.path, str(caught.value)) == (path, f"{path}: {caught.value.detail}")
    assert "\n" not in caught.value.detail
    return caught.value.detail


def test_every_default_is_documented_and_no_other_setting() -> None:
    """Issue 4: what `sessiontree config` prints is what holds without a file."""
    assert tomllib.loads(DEFAULTS) == msgspec.to_builtins(Settings())


def test_every_setting_has_a_comment_above_it() -> None:
    lines = DEFAULTS.splitlines()
    for at, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[at - 1].startswith("# "), line


@pytest.mark.parametrize("name", ["double_escape_action", "tree_filter_mode", "theme"])
def test_every_value_that_may_be_chosen_is_documented_and_taken(name: str, put: Put) -> None:
    """U-03, U-57."""
    for value in get_args(get_type_hints(Settings)[name]):
        assert f'"{value}"' in DEFAULTS
        assert getattr(read_settings(put(f"{name} = '{value}'")), name) == value


def test_the_filters_that_may_be_set_are_those_of_the_tree() -> None:
    """U-57."""
    assert get_args(get_type_hints(Settings)["tree_filter_mode"]) == tuple(mode.value for mode in FilterMode)


def test_what_two_escapes_open_is_the_messages_unless_it_is_set() -> None:
    """U-03 as settled."""
    assert Settings().double_escape_action == "branch"


@pytest.mark.parametrize("above", ["", "config/"])
def test_without_a_file_the_defaults_hold(above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{tmp_path}/{above}")
    assert read_settings() == Settings()


def test_the_file_of_the_person_is_read_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves out has its default."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "sessiontree").mkdir()
    (tmp_path / "sessiontree" / "config.toml").write_text("[compaction]\nenabled = false\n")
    settings = read_settings()
    assert (settings.compaction.enabled, settings.compaction.keep_recent_tokens) == (False, 20_000)
    assert msgspec.structs.replace(settings, compaction=Settings().compaction) == Settings()


@pytest.mark.parametrize(
    ("platform", "base", "expected"),
    [
        ("linux", "/etc/person", "/etc/person/sessiontree/config.toml"),
        ("linux", "relative", "{home}/.config/sessiontree/config.toml"),
        ("linux", "", "{home}/.config/sessiontree/config.toml"),
        ("linux", None, "{home}/.config/sessiontree/config.toml"),
        ("darwin", None, "{home}/Library/Application Support/sessiontree/config.toml"),
        ("darwin", "/etc/person", "{home}/Library/Application Support/sessiontree/config.toml"),
    ],
)
def test_the_file_is_where_the_platform_keeps_such_files(
    platform: str, base: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if base is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", base)
    assert str(settings_path()) == expected.format(home=tmp_path)


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        ("double_escape_action = 'twice'", "Invalid enum value 'twice' - at `$.double_escape_action`"),
        ("tree_filter_mode = 'none'", "at `$.tree_filter_mode`"),
        ("colour = 'red'", "unknown field `colour`"),
        ("[compaction]\nkeep = 1", "unknown field `keep` - at `$.compaction`"),
        ("[branch_summary]\nskip = 1", "unknown field `skip` - at `$.branch_summary`"),
        ("[compaction]\nkeep_recent_tokens = 'many'", "Expected `int`, got `str` - at `$.compaction"),
        ("context_window = true", "Expected `int`, got `bool`"),
        ("context_window = 1.5", "Expected `int`, got `float`"),
        ("compaction = false", "Expected `object`, got `bool`"),
        ("[[branch_summary]]", "Expected `object`, got `array`"),
        ("model = ", "Invalid value (at "),
        ("model = 'a'\nmodel = 'b'", "Cannot overwrite a value"),
        ("[compaction", "Expected ']'"),
        (b"model = '\xff'", "is not UTF-8"),
        (b"\xff\xfem\x00", "is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_settings_is_named_with_the_reason(content: str | bytes, detail: str, put: Put) -> None:
    assert detail in refused(put(content))


def test_deep_nesting_is_broken_toml_too(put: Put) -> None:
    """D15: nesting raises no decode error."""
    assert refused(put("model = " + "[" * 50_000)) == "is nested too deeply"


@pytest.mark.parametrize(
    "content",
    ["context_window = -1", "compaction.keep_recent_tokens = -1", "branch_summary.reserve_tokens = -1"],
)
def test_a_number_of_tokens_is_not_negative(content: str, put: Put) -> None:
    assert refused(put(content))


def test_a_file_that_was_named_has_to_be_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.toml") == "no such file"
    assert refused(tmp_path) == "Is a directory"


def test_a_file_that_may_not_be_read_is_told(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a refusing system, because tests may run as root; the file of the person too."""
    path = put("")

    def refuse(*args: Any, **options: Any) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    assert refused(path) == "Permission denied"
    with pytest.raises(SettingsError, match="Permission denied"):
        read_settings()


@pytest.mark.parametrize("model", ["", "digest", "openai:"])
def test_without_a_model_nobody_answers(model: str) -> None:
    assert Settings(model=model).agent_model() is None


def test_an_agent_takes_its_model_and_its_numbers_from_them() -> None:
    """K-01, K-03, N-60: the window is that of the model."""
    given = {
        "context_window": 9,
        "compaction": {"keep_recent_tokens": 7, "enabled": False},
        "branch_summary": {"reserve_tokens": 5},
    }
    settings = msgspec.convert(given, Settings)
    assert settings.with_model("openai:m:1").agent_model() == Model("openai", "m:1", 9)
    agent = settings.for_agent()
    assert (agent.compaction.keep_recent_tokens, agent.compaction.enabled) == (7, False)
    assert agent.branch_summary.reserve_tokens == 5
