"""What a person has set: one TOML file in the platform's configuration directory, every default documented."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ..commands.summaries.settings import AgentSettings, BranchSummarySettings, CompactionSettings, Model
from ..eventstore.errors import SessionTreeError
from .summarizer_option import SummarizerChoice

Theme = Literal["auto", "dark", "light"]
Tokens = Annotated[int, Meta(ge=0)]
DEFAULTS = """\
# sessiontree: settings of the terminal interface. What is left out has the value that stands here.

# What two Escapes in an empty editor open, and what /branch opens: "branch" (the user messages), "tree", or
# "none" (nothing; /branch opens the user messages).
double_escape_action = "branch"

# The filter that the tree begins with: "default", "no-tools", "user-only", "labeled-only" or "all".
tree_filter_mode = "default"

# Who answers and who writes summaries: "openai:MODEL" or "anthropic:MODEL"; "" is nobody, and digests.
model = ""

# The context window of that model, in tokens; 0 where it is not known: then nothing is compacted by itself.
context_window = 0

# Colours: "dark" or "light"; "auto" is light where the terminal says in COLORFGBG that it is, else dark.
theme = "auto"

[branch_summary]
# Whether going elsewhere in the tree asks for a summary of the branch that is left.
enabled = false
# Tokens kept free of the window when a branch is summarized.
reserve_tokens = 16384

[compaction]
# Whether a full window is compacted by itself.
enabled = true
# Tokens of the newest messages that a compaction keeps.
keep_recent_tokens = 20000
"""


class SettingsError(SessionTreeError, ValueError):
    """Raised when a settings file cannot be read, or holds no settings. Attributes: `path`, `detail`."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path
        self.detail = detail


class BranchSummaryChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """See `DEFAULTS`."""

    enabled: bool = False
    reserve_tokens: Tokens = 16_384


class CompactionChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """See `DEFAULTS`."""

    enabled: bool = True
    keep_recent_tokens: Tokens = 20_000


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """See `DEFAULTS`."""

    double_escape_action: Literal["branch", "tree", "none"] = "branch"
    tree_filter_mode: Literal["default", "no-tools", "user-only", "labeled-only", "all"] = "default"
    model: str = ""
    context_window: Tokens = 0
    theme: Theme = "auto"
    branch_summary: BranchSummaryChoice = BranchSummaryChoice()
    compaction: CompactionChoice = CompactionChoice()

    def with_model(self, model: str) -> Settings:
        """Return the same with another model."""
        return msgspec.structs.replace(self, model=model)

    def agent_model(self) -> Model | None:
        """Return the model that answers, None where nobody does."""
        provider, _, name = self.model.partition(":")
        return Model(provider, name, self.context_window) if name else None

    def for_agent(self) -> AgentSettings:
        """Return what an agent session takes of them."""
        return AgentSettings(
            compaction=CompactionSettings(
                enabled=self.compaction.enabled, keep_recent_tokens=self.compaction.keep_recent_tokens
            ),
            branch_summary=BranchSummarySettings(self.branch_summary.reserve_tokens),
        )


def settings_path() -> Path:
    """Return where the settings are, whether the file is there or not."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "sessiontree" / "config.toml"
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else home / ".config") / "sessiontree" / "config.toml"


def read_settings(path: Path | None = None) -> Settings:
    """Return the settings of a file, by default those of the person; a file that is not there has none.

    Raises `SettingsError`; a file that was named has to be there.
    """
    chosen = path if path is not None else settings_path()
    try:
        text = chosen.read_text(encoding="utf-8")
    except FileNotFoundError:
        if path is None:
            return Settings()
        raise SettingsError(chosen, "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(chosen, getattr(error, "strerror", None) or "is not UTF-8") from error
    try:
        settings = msgspec.convert(tomllib.loads(text), Settings)
        if settings.model:
            SummarizerChoice.of(settings.model)
    except RecursionError as error:  # of tomllib, which has no error of its own for it
        raise SettingsError(chosen, "is nested too deeply") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise SettingsError(chosen, str(error)) from error
    return settings
