"""The session picker alone, as `sessiontree ui` begins without a file."""

from __future__ import annotations

from pathlib import Path

from ..ui_app import UiApp
from .picker_screen import SessionPicker


class PickerApp(UiApp[Path]):
    """Ends with the file that was chosen, or None."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory

    def on_mount(self) -> None:
        """Show the picker."""
        self.push_screen(SessionPicker(self._directory), self.exit)


async def pick_session(directory: Path) -> Path | None:
    """Let a person choose a session of a directory."""
    return await PickerApp(directory).run_async()
