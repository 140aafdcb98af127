"""The session picker alone, as `sessiontree ui` begins without a file."""

from __future__ import annotations

from pathlib import Path

from ..settings import Theme
from ..ui_app import UiApp
from .picker_screen import SessionPicker


class PickerApp(UiApp[Path]):
    """Ends with the file that was chosen, or None."""

    def __init__(self, directory: Path, theme: Theme = "auto") -> None:
        super().__init__(theme)
        self._directory = directory

    def on_mount(self) -> None:
        """Show the picker."""
        self.push_screen(SessionPicker(self._directory), self.exit)


async def pick_session(directory: Path, theme: Theme = "auto") -> Path | None:
    """Let a person choose a session of a directory."""
    return await PickerApp(directory, theme).run_async()
