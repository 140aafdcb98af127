"""`sessiontree ui`: the terminal interface."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from pathlib import Path

import click

from ..commands.session_manager import SessionManager
from .async_run import run
from .progress import Progress
from .session_target import SessionTarget, sessions_dir_options
from .settings import read_settings
from .summarizer_option import DIGEST, SummarizerChoice, choice, client_of
from .ui_extra import check_terminal, needed_ui


@click.command("ui")
@click.argument("file", metavar="[FILE]", required=False)
@sessions_dir_options
@click.option("--model", metavar="WHO", callback=choice, help="Who answers: openai:MODEL or anthropic:MODEL.")
@click.option("--config", "config", type=click.Path(dir_okay=False, path_type=Path), help="Another settings file.")
def ui_command(file: str | None, directory: Path, model: SummarizerChoice | None, config: Path | None) -> None:
    """Read a session and go on with it, in its tree; without FILE, choose one.

    The settings are told by `sessiontree config`.
    """
    check_terminal("ui", sys.stdin, sys.stdout, sys.stderr)
    run(_ui, file, directory, model, config)


async def _ui(file: str | None, directory: Path, model: SummarizerChoice | None, config: Path | None) -> None:
    settings = read_settings(config)
    if model is not None:
        settings = settings.with_model(model.text)
    who = SummarizerChoice.of(settings.model or DIGEST)
    host = needed_ui(".host.host_app", "HostApp")
    answers = None
    async with AsyncExitStack() as stack:
        path = (
            await SessionTarget(file, directory).find()
            if file is not None
            else await needed_ui(".host.picker_app", "pick_session")(directory, settings.theme)
        )
        if path is None:
            return
        if who.provider == DIGEST:
            summarizer = await stack.enter_async_context(who.made())
        else:
            client = await stack.enter_async_context(client_of(who.provider))
            summarizer = who.summarizer(client)
            name = "OpenAIAnswers" if who.provider == "openai" else "AnthropicAnswers"
            answers = needed_ui(".host.model_answers", name)(client, who.model)
        async with Progress("reading the session"):
            session = await SessionManager.open(path)
        app = host(session, directory, settings, summarizer, answers)
        try:
            await app.run_async()
        finally:
            await app.session.close()
