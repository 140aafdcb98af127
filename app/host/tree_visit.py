"""A visit to the tree from the conversation: choose, perhaps summarize, go (U-70..U-77)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..counted import counted
from ..selector.tree_screen import TreeChoice, TreeSelector
from ..tree_filter import FilterMode
from .choice_screen import ChoiceScreen, LineScreen

if TYPE_CHECKING:
    from .host_app import HostApp

_SUMMARY_CHOICES = ("No summary", "Summarize the branch that is left", "Summarize, and say what matters")


class TreeVisit:
    """The tree selector, again and again until somebody went somewhere or left it."""

    def __init__(self, host: HostApp) -> None:
        self._host = host

    async def run(self) -> None:
        """Let a person choose, and go there."""
        host = self._host
        while True:
            if not host.session.entry_count:
                host.say("nothing was recorded yet")
                return
            mode = FilterMode(host.settings.tree_filter_mode)
            choice = await host.push_screen_wait(TreeSelector(host.session, mode=mode))
            if choice is None:
                return
            if choice.is_leaf:
                host.say("already here")
                return
            wants = await self._wants_summary(choice)
            if wants is not None and await self._go(choice.entry_id, *wants):
                return

    async def _wants_summary(self, choice: TreeChoice) -> tuple[bool, str | None] | None:
        """Ask for a summary where that is set; None is back to the tree (U-71..U-74)."""
        host = self._host
        if choice.summarize or not host.settings.branch_summary.enabled:
            return choice.summarize, None
        while True:
            answer = await host.push_screen_wait(ChoiceScreen("Summarize the branch that is left?", _SUMMARY_CHOICES))
            if answer is None:
                return None
            if answer < 2:
                return answer == 1, None
            prompt = await host.push_screen_wait(LineScreen("What matters for the summary?"))
            if prompt is not None:
                return True, prompt.strip() or None

    async def _go(self, entry_id: str, summarize: bool, instructions: str | None) -> bool:
        """Go to an entry; False is back to the tree."""
        host = self._host
        with host.working("summarizing" if summarize else "going there") as signal:
            result = await host.agent.navigate_tree(
                entry_id, summarize=summarize, custom_instructions=instructions, signal=signal
            )
        if result.aborted:
            host.say("stopped: nothing has changed")
            return False
        if result.cancelled:
            host.say("cancelled")
            return True
        await host.show_session()
        if result.editor_text and host.editor.is_blank:
            host.editor.prefill(result.editor_text)
        images = len(result.editor_images or ())
        went = "summarized, and gone there" if result.summary_entry is not None else "gone there"
        host.say(went + (f", without {counted(images, 'image')}" if images else ""))
        return True
