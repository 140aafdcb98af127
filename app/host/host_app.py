"""The terminal interface: the conversation, an editor, and the flows of an agent session (U-01..U-82)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from ...commands.agent_session import AgentSession
from ...commands.session_manager import SessionManager
from ...commands.summaries.summarizer import Summarizer
from ...eventstore.abort import AbortController, AbortSignal
from ...eventstore.errors import AbortError, SessionTreeError
from ..cells import clean, fit
from ..counted import counted
from ..error_text import os_error_text
from ..settings import Settings
from ..ui_app import UiApp
from .answering import answer
from .conversation import Conversation
from .help_screen import HelpScreen
from .host_commands import HostCommands
from .model_answers import Answers
from .prompt_editor import PromptEditor
from .slash_commands import SlashCommand, completions, parse
from .status_line import StatusLine

_DOUBLE_ESCAPE = 0.5
_LOOK_EVERY = 0.5


class HostApp(UiApp[None]):
    """One session on the screen. `answers`: who answers; without, a message is appended and that is all."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012 - no class variable for Textual
    CSS = """
    ToastRack { dock: top; align: right top; }
    Toast { max-width: 100%; max-height: 100%; padding: 0 1; margin: 0; }
    .-short PromptEditor { min-height: 1; border: none; border-left: outer $primary; }
    #commands { height: auto; padding: 0 1; color: $text-muted; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", show=False),
        Binding("ctrl+c", "interrupt", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("f1", "help", show=False),
    ]

    def __init__(
        self,
        session: SessionManager,
        directory: Path,
        settings: Settings,
        summarizer: Summarizer,
        answers: Answers | None = None,
    ) -> None:
        super().__init__(settings.theme)
        self.session = session
        self._commands = HostCommands(self, directory)
        self.settings = settings
        self._summarizer = summarizer
        self._answers = answers
        self.agent = self._agent_for(session)
        self._work: AbortController | None = None
        self._doing = ""
        self._escaped_at = 0.0
        self._following = AbortController()
        self._generation = session.generation

    def _agent_for(self, session: SessionManager) -> AgentSession:
        settings = self.settings
        return AgentSession(
            session, summarizer=self._summarizer, model=settings.agent_model(), settings=settings.for_agent()
        )

    def compose(self) -> ComposeResult:
        yield Conversation()
        yield Static("", id="commands", markup=False)
        yield PromptEditor()
        yield StatusLine()

    async def on_mount(self) -> None:
        """Show the session, and follow what others append."""
        self.editor.focus()
        await self._arrive()
        self.set_interval(_LOOK_EVERY, self._look_again)

    async def _arrive(self) -> None:
        """Show the session as it is in its file now, and follow that file."""
        self._following.abort()
        self._following = AbortController()
        await self.show_session()
        self._follow(self._following.signal)

    @asynccontextmanager
    async def moving(self) -> AsyncIterator[None]:
        """Follow no file while the session goes to another one, and follow again whatever came of it."""
        self._following.abort()
        try:
            yield
        finally:
            await self._arrive()

    async def go_to(self, session: SessionManager) -> SessionManager:
        """Show another session; return the one that was shown."""
        old, self.session = self.session, session
        self.agent = self._agent_for(session)
        await self._arrive()
        return old

    @property
    def editor(self) -> PromptEditor:
        """Where one types."""
        return self.query_one(PromptEditor)

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.query_one(Conversation)

    async def show_session(self) -> None:
        """Show the path to the leaf."""
        self._generation = self.session.generation
        await self.conversation.show(self.session)
        self.say()

    async def _look_again(self) -> None:
        """Show a session anew that another program has rewritten."""
        if self.session.generation != self._generation and self._work is None:
            await self.show_session()

    def say(self, said: str = "") -> None:
        """Write the status line: what runs, what was said, where one is."""
        doing = f"{self._doing} … Esc stops it" if self._work is not None else ""
        name = self.session.session_name or self.session.session_id[:8]
        where = [name, counted(self.session.entry_count, "entry", "entries"), self.settings.model or "no model"]
        for line in self.query(StatusLine):  # there is none when the program ends
            line.show([said or doing, *where, "/ commands  F1 help"])

    @work
    async def _follow(self, signal: AbortSignal) -> None:
        """Take in what other programs append; whoever stands at the end goes along (live follow)."""
        try:
            async for entry in self.session.follow(signal=signal):
                await self._look_again()
                if entry.parent_id == self.session.leaf_id and self._work is None:
                    self.session.branch(entry.id)
                    await self.conversation.add(entry)
                self.say()
        except AbortError:
            return
        except SessionTreeError as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Tell what failed."""
        said = os_error_text(error) if isinstance(error, OSError) else str(error)
        self.notify(clean(said or type(error).__name__), severity="error", markup=False, timeout=10)
        self.say()

    def on_text_area_changed(self) -> None:
        """Show which commands the text may become."""
        self._escaped_at = 0.0
        found = completions(self.editor.text)
        hint = self.query_one("#commands", Static)
        if found or hint.display:  # each update lays the whole screen out
            hint.display = bool(found)
            hint.update(fit("  ".join(found), max(1, self.size.width - 2)))

    def on_prompt_editor_complete(self) -> None:
        """Complete the command as far as it is certain."""
        found = completions(self.editor.text)
        if found:
            self.editor.prefill(found[0] + " " if len(found) == 1 else found[0])

    def on_prompt_editor_sent(self, event: PromptEditor.Sent) -> None:
        """Carry out a command, or send a message."""
        command = parse(event.text)
        if self._work is not None and (command is None or command.name != "quit"):
            self.editor.prefill(event.text)
            self.say(f"{self._doing} is running: Esc stops it")
        elif command is None:
            self._send(event.text)
        elif not command.known:
            self.editor.prefill(event.text)
            self.say(command.refusal)
        else:
            self._carry_out(command)

    @work
    async def _carry_out(self, command: SlashCommand) -> None:
        self.clear_notifications()
        await self._commands.carry_out(command)

    @work(group="send")
    async def _send(self, text: str) -> None:
        """Append a message, and have it answered where somebody answers."""
        try:
            entry_id = await self.session.append_message({"role": "user", "content": text})
        except (SessionTreeError, OSError) as error:
            self.editor.prefill(text)
            self.fail(error)
            return
        try:
            await self.show_new(entry_id)
            self.conversation.to_end()
            if self._answers is None:
                self.say("recorded; nobody answers without --model")
            elif self._work is None:
                await answer(self, self._answers)
        except AbortError:
            self.say("stopped")
        except (SessionTreeError, OSError) as error:
            self.fail(error)

    async def show_new(self, entry_id: str) -> None:
        """Show an entry that was just recorded."""
        [entry] = await self.session.get_entries([entry_id])
        await self.conversation.add(entry)

    @contextmanager
    def working(self, doing: str) -> Iterator[AbortSignal]:
        """Say what is being done; Escape aborts the signal."""
        self._work, self._doing = AbortController(), doing
        self.say()
        try:
            yield self._work.signal
        finally:
            self._work = None

    def on_key(self, event: events.Key) -> None:
        """Type into the editor, also from what is folded; what stands before it keeps its keys."""
        typed = event.character if event.is_printable and len(self.screen_stack) == 1 else None
        if typed is not None and self.focused is not self.editor:
            self.editor.type(typed)

    def action_escape(self) -> None:
        """Escape: stop what runs; twice in an empty editor it opens the tree or the messages (U-03..U-05)."""
        if self._work is not None:
            self._work.abort("Escape")
            return
        if self.focused is not self.editor:
            self.editor.focus()
            return
        action, now = self.settings.double_escape_action, monotonic()
        if not self.editor.is_blank or action == "none":
            self._escaped_at = 0.0
        elif now - self._escaped_at < _DOUBLE_ESCAPE:
            self._escaped_at = 0.0
            self._carry_out(SlashCommand(action, "", True))
        else:
            self._escaped_at = now

    async def action_quit(self) -> None:
        """Leave; what was sent is recorded, and an answer as far as it has come."""
        self._leave()

    @work
    async def _leave(self) -> None:
        # As a worker: what is waited for needs the screen to draw on.
        if self._work is not None:
            self._work.abort("quit")
        if sending := [worker for worker in self.workers if worker.group == "send"]:
            await self.workers.wait_for_complete(sending)
        self.exit()

    async def action_interrupt(self) -> None:
        """Ctrl+C: stop what runs, clear the editor, or leave."""
        if self._work is not None:
            self._work.abort("Ctrl+C")
        elif not self.editor.is_blank:
            self.editor.text = ""
        else:
            await self.action_quit()

    async def action_page(self, direction: int) -> None:
        """Scroll the conversation; at the top, bring what is older."""
        shown = self.conversation
        if direction < 0 and shown.scroll_offset.y == 0:
            try:
                await shown.show_earlier()
            except SessionTreeError as error:
                self.fail(error)
        elif direction < 0:
            shown.scroll_page_up()
        else:
            shown.scroll_page_down()

    def action_help(self) -> None:
        """Tell the commands and keys."""
        self.push_screen(HelpScreen(self.settings.double_escape_action))

    async def on_unmount(self, _: events.Unmount) -> None:
        """Let go of the session's followers."""
        self._following.abort()
