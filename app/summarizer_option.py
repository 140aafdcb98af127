"""`--summarizer`: who writes the summaries of a command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, NamedTuple

import click

from ..commands.summaries.anthropic_summarizer import AnthropicSummarizer
from ..commands.summaries.digest import DigestSummarizer
from ..commands.summaries.openai_summarizer import OpenAISummarizer
from ..commands.summaries.summarizer import Summarizer
from ..eventstore.errors import NoSummarizerError
from .text_argument import utf8

_PROVIDERS = ("openai", "anthropic")
DIGEST = "digest"


class SummarizerChoice(NamedTuple):
    """`provider` is `digest`, `openai` or `anthropic`; `model` is empty for the first."""

    provider: str
    model: str = ""

    @asynccontextmanager
    async def made(self) -> AsyncIterator[Summarizer]:
        """Make the summarizer; its client takes address and key from its own environment variables.

        Raises `NoSummarizerError` where the client is not installed or has no key.
        """
        if self.provider == DIGEST:
            yield DigestSummarizer()
        elif self.provider == "openai":
            async with _client("openai", "AsyncOpenAI", "OPENAI_API_KEY") as client:
                yield OpenAISummarizer(client, self.model)
        else:
            async with _client("anthropic", "AsyncAnthropic", "ANTHROPIC_API_KEY") as client:
                if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
                    raise _no_key("anthropic", "ANTHROPIC_API_KEY")
                yield AnthropicSummarizer(client, self.model)


def _client(package: str, name: str, key: str) -> Any:
    try:
        module = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise NoSummarizerError(
            f"the package {package} is not installed: pip install 'sessiontree[{package}]'"
        ) from None
    try:
        return getattr(module, name)()
    except Exception as error:
        if key in str(error):
            raise _no_key(package, key) from error
        raise NoSummarizerError(f"{package}: {error}") from error


def _no_key(provider: str, key: str) -> NoSummarizerError:
    return NoSummarizerError(f"no API key for {provider}: set {key} (to anything, for a server that asks for none)")


def _choice(ctx: click.Context, param: click.Parameter, value: str | None) -> SummarizerChoice | None:
    if value is None:
        return None
    provider, colon, model = utf8("--summarizer", value).partition(":")
    if provider == DIGEST and not colon:
        return SummarizerChoice(DIGEST)
    if provider in _PROVIDERS and model:
        return SummarizerChoice(provider, model)
    raise click.BadParameter(f"{value!r} is not digest, openai:MODEL or anthropic:MODEL.", ctx, param)


summarizer_option = click.option(
    "--summarizer",
    metavar="WHO",
    callback=_choice,
    help="digest (the default: no model, no network), openai:MODEL or anthropic:MODEL.",
)
"""Gives a command `summarizer`, None where it was not said."""
