"""The editor at the foot of the screen."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from ..cells import clean, clean_text

_APP_KEYS = {"pageup": "app.page(-1)", "pagedown": "app.page(1)", "ctrl+c": "app.interrupt"}


class PromptEditor(TextArea):
    """Enter sends, Shift+Enter (or Alt+Enter, Ctrl+J) begins a new line, Tab completes a command."""

    DEFAULT_CSS = """
    PromptEditor { height: auto; min-height: 3; max-height: 40vh; border: tall $primary; padding: 0 1; }
    """

    class Sent(Message):
        """The text was sent, and is gone from the editor."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Complete(Message):
        """A command is to be completed."""

    def __init__(self) -> None:
        super().__init__(show_line_numbers=False, soft_wrap=True, tab_behavior="focus")

    @property
    def is_blank(self) -> bool:
        """Whether nothing but blanks is in it."""
        return not self.text.strip()

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if not self.is_blank:
                text, self.text = self.text, ""
                self.post_message(self.Sent(text))
        elif event.key in ("shift+enter", "alt+enter", "ctrl+j"):
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key in _APP_KEYS:
            event.stop()
            event.prevent_default()
            await self.app.run_action(_APP_KEYS[event.key])
        elif event.character is not None and event.is_printable and clean(event.character) != event.character:
            event.prevent_default()  # a terminal would obey it
        elif event.key == "tab":  # which would take the keys to the oldest of what is folded
            event.stop()
            event.prevent_default()
            self.post_message(self.Complete())
        else:
            await super()._on_key(event)

    def type(self, text: str) -> None:
        """Take the keys, and put a text where the cursor is."""
        self.focus()
        self.insert(clean_text(text))

    def prefill(self, text: str) -> None:
        """Put a text there, without what a terminal obeys, the cursor behind it."""
        self.text = clean_text(text)
        self.move_cursor(self.document.end)
