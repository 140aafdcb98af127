"""`sessiontree ui`: the terminal interface."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import click

from ..commands.session_manager import SessionManager
from .async_run import run
from .session_target import SessionTarget, sessions_dir_options
from .settings import read_settings
from .summarizer_option import DIGEST, SummarizerChoice, client_of, parse_choice
from .ui_extra import needed_ui


@click.command("ui")
@click.argument("file", metavar="[FILE]", required=False)
@sessions_dir_options
@click.option("--model", metavar="WHO", help="Who answers: openai:MODEL or anthropic:MODEL.")
@click.option("--config", "config", type=click.Path(dir_okay=False, path_type=Path), help="Another settings file.")
def ui_command(file: str | None, directory: Path, model: str | None, config: Path | None) -> None:
    """Read a session and go on with it, in its tree; without FILE, choose one.

    The settings are told by `sessiontree config`.
    """
    run(_ui, file, directory, model, config)


async def _ui(file: str | None, directory: Path, model: str | None, config: Path | None) -> None:
    settings = read_settings(config)
    if model is not None:
        settings = settings.with_model(model)
    choice = parse_choice(settings.model) if settings.model else SummarizerChoice(DIGEST)
    host = needed_ui(".host.host_app", "HostApp")
    answers = None
    async with AsyncExitStack() as stack:
        path = (
            await SessionTarget(file, directory).find()
            if file is not None
            else await needed_ui(".host.picker_app", "pick_session")(directory)
        )
        if path is None:
            return
        if choice.provider == DIGEST:
            summarizer = await stack.enter_async_context(choice.made())
        else:
            client = await stack.enter_async_context(client_of(choice.provider))
            summarizer = choice.summarizer(client)
            name = "OpenAIAnswers" if choice.provider == "openai" else "AnthropicAnswers"
            answers = needed_ui(".host.model_answers", name)(client, choice.model)
        app = host(await SessionManager.open(path), directory, settings, summarizer, answers)
        try:
            await app.run_async()
        finally:
            await app.session.close()
