"""Settings: a file that may be missing, and what a wrong one is told."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from sessiontree import Model
from sessiontree.app.settings import DEFAULTS, Settings, SettingsError, read_settings, settings_path


def test_every_default_is_documented() -> None:
    assert msgspec.convert(tomllib.loads(DEFAULTS), Settings) == Settings()
    documented = tomllib.loads(DEFAULTS)
    assert list(documented) == list(msgspec.to_builtins(Settings())) or set(documented) == set(
        msgspec.to_builtins(Settings())
    )


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert read_settings() == Settings()


@pytest.mark.parametrize(
    ("platform", "base", "expected"),
    [
        ("linux", "/etc/person", "/etc/person/sessiontree/config.toml"),
        ("linux", "relative", "{home}/.config/sessiontree/config.toml"),
        ("linux", "", "{home}/.config/sessiontree/config.toml"),
        ("darwin", "", "{home}/Library/Application Support/sessiontree/config.toml"),
    ],
)
def test_the_file_is_where_the_platform_keeps_such_files(
    platform: str, base: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", base)
    assert str(settings_path()) == expected.format(home=tmp_path)


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"double_escape_action = 'twice'", "Invalid enum value 'twice'"),
        (b"colour = 'red'", "unknown field `colour`"),
        (b"[compaction]\nkeep_recent_tokens = 'many'", "Expected `int`, got `str`"),
        (b"model = ", "Invalid value"),
        (b"model = '\xff'", "is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_settings_is_named_with_the_reason(content: bytes, detail: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert detail in caught.value.detail


def test_a_file_that_was_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        read_settings(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="Is a directory"):
        read_settings(tmp_path)


def test_an_agent_takes_its_model_and_its_numbers_from_them() -> None:
    settings = msgspec.convert({"context_window": 9, "compaction": {"keep_recent_tokens": 7}}, Settings)
    assert settings.agent_model() is None
    assert settings.with_model("openai:m:1").agent_model() == Model("openai", "m:1", 9)
    assert settings.for_agent().compaction.keep_recent_tokens == 7
