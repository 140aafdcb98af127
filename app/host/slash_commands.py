"""The commands that a person types into the editor, and how they are completed (U-01, U-02)."""

from __future__ import annotations

from typing import NamedTuple

COMMANDS = {
    "tree": "go elsewhere in the tree",
    "branch": "go on in a new file from one of your messages",
    "label": "label the current entry: /label TEXT, or nothing to clear it",
    "compact": "summarize the older part of the conversation: /compact [what to keep in mind]",
    "name": "name the session: /name TEXT",
    "new": "begin a new session",
    "resume": "open another session",
    "export": "write the conversation to a text file: /export [FILE]",
    "quit": "leave",
}
"""What each does, by name."""
_WITH_ARGUMENT = frozenset({"label", "compact", "name", "export"})


class SlashCommand(NamedTuple):
    """A command that was typed. `known` is false for one that there is not, and for one that takes no argument."""

    name: str
    argument: str
    known: bool

    @property
    def refusal(self) -> str:
        """What is said of one that is not known."""
        return (
            f"/{self.name} takes no text"
            if self.name in COMMANDS
            else f"there is no /{self.name}: / lists the commands"
        )


def parse(text: str) -> SlashCommand | None:
    """Return the command that a text is, None for a message. A path (`/etc/hosts`) is one."""
    line = text.strip()
    if not line.startswith("/") or "\n" in line:
        return None
    name, _, argument = line[1:].partition(" ")
    if "/" in name or not name:
        return None
    argument = argument.strip()
    return SlashCommand(name, argument, name in COMMANDS and (not argument or name in _WITH_ARGUMENT))


def completions(text: str) -> list[str]:
    """Return the commands that a text may become, while it is no more than the beginning of one."""
    if not text.startswith("/") or any(character.isspace() for character in text):
        return []
    return [f"/{name}" for name in COMMANDS if name.startswith(text[1:]) and name != text[1:]]
