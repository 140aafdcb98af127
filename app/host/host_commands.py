"""What the commands that a person types do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...commands.session_manager import SessionManager
from ...eventstore.errors import AbortError, SessionTreeError
from ..counted import counted
from .export import export
from .message_screen import MessageSelector
from .picker_screen import SessionPicker
from .slash_commands import SlashCommand
from .tree_visit import TreeVisit

if TYPE_CHECKING:
    from .host_app import HostApp


class HostCommands:
    """Carries out commands, one at a time. `directory`: where the sessions are that /resume offers."""

    def __init__(self, host: HostApp, directory: Path) -> None:
        self._host = host
        self._directory = directory

    async def carry_out(self, command: SlashCommand) -> None:
        """Carry out a command that is known; what fails is told."""
        host = self._host
        try:
            match command.name:
                case "tree":
                    await TreeVisit(host).run()
                case "branch":
                    await self._branch()
                case "label":
                    await self._label(command.argument)
                case "compact":
                    await self._compact(command.argument)
                case "name":
                    await self._name(command.argument)
                case "new":
                    async with host.moving():
                        await host.session.new_session()
                    host.say("a new session: it is recorded with the first message")
                case "resume":
                    await self._resume()
                case "export":
                    host.say(await export(host.agent, command.argument))
                case "quit":
                    await host.action_quit()
        except AbortError:
            host.say("stopped")
        except (SessionTreeError, OSError) as error:
            host.fail(error)

    async def _branch(self) -> None:
        """/branch: the user-message selector, or the tree where that is set (U-02, U-80..U-82)."""
        host = self._host
        if host.settings.double_escape_action == "tree":
            await TreeVisit(host).run()
            return
        with host.working("reading the messages") as signal:
            messages = await host.agent.get_user_messages_for_branching(signal=signal)
        host.say()
        if not messages:
            host.say("no message to branch from yet")
            return
        entry_id = await host.push_screen_wait(MessageSelector(messages))
        if entry_id is None:
            return
        async with host.moving():
            result = await host.agent.branch(entry_id)
        if not result.cancelled:
            host.editor.prefill(result.selected_text)
            images = len(result.selected_images or ())
            host.say("branched into a new file" + (f", without {counted(images, 'image')}" if images else ""))

    async def _label(self, text: str) -> None:
        host = self._host
        target_id = host.session.leaf_id
        while target_id is not None and (shape := host.session.shape(target_id)).type == "label":
            target_id = shape.parent_id
        if target_id is None:
            host.say("nothing to label here")
            return
        await host.session.append_label_change(target_id, text or None)
        host.say(f"labelled {text}" if text else "label cleared")

    async def _compact(self, instructions: str) -> None:
        host = self._host
        with host.working("compacting") as signal:
            result = await host.agent.compact(instructions or None, signal=signal)
        await host.show_session()
        host.say(f"compacted: {result.tokens_before:,} tokens before")

    async def _name(self, name: str) -> None:
        host = self._host
        if not name:
            host.say("/name TEXT names the session")
            return
        await host.session.set_session_name(name)
        host.say()

    async def _resume(self) -> None:
        host = self._host
        path = await host.push_screen_wait(SessionPicker(self._directory))
        if path is None:
            return
        with host.working("opening") as signal:
            session = await SessionManager.open(path, signal=signal)
        old = await host.go_to(session)
        await old.close()
