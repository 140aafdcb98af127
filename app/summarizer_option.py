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

    @classmethod
    def of(cls, text: str) -> SummarizerChoice:
        """Return the choice that a text is. Raises `ValueError`."""
        provider, colon, model = text.partition(":")
        if provider == DIGEST and not colon:
            return cls(DIGEST)
        if provider in _PROVIDERS and model:
            return cls(provider, model)
        raise ValueError(f"{text!r} is not digest, openai:MODEL or anthropic:MODEL.")

    @property
    def text(self) -> str:
        """The text that the choice was."""
        return ":".join(filter(None, self))

    @asynccontextmanager
    async def made(self) -> AsyncIterator[Summarizer]:
        """Make the summarizer; its client takes address and key from its own environment variables.

        Raises `NoSummarizerError` where the client is not installed or has no key.
        """
        if self.provider == DIGEST:
            yield DigestSummarizer()
        else:
            async with client_of(self.provider) as client:
                yield self.summarizer(client)

    def summarizer(self, client: Any) -> Summarizer:
        """Return the summarizer of a client."""
        made = OpenAISummarizer if self.provider == "openai" else AnthropicSummarizer
        return made(client, self.model)


@asynccontextmanager
async def client_of(provider: str) -> AsyncIterator[Any]:
    """Make the official client of a provider. Raises `NoSummarizerError`."""
    if provider == "openai":
        async with _client("openai", "AsyncOpenAI", "OPENAI_API_KEY") as client:
            yield client
    else:
        async with _client("anthropic", "AsyncAnthropic", "ANTHROPIC_API_KEY") as client:
            if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
                raise _no_key("anthropic", "ANTHROPIC_API_KEY")
            yield client


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


def choice(ctx: click.Context, param: click.Parameter, value: str | None) -> SummarizerChoice | None:
    """Return the choice of an option. Raises `click.UsageError`."""
    if value is None:
        return None
    try:
        return SummarizerChoice.of(utf8(param.opts[0], value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


summarizer_option = click.option(
    "--summarizer",
    metavar="WHO",
    callback=choice,
    help="digest (the default: no model, no network), openai:MODEL or anthropic:MODEL.",
)
"""Gives a command `summarizer`, None where it was not said."""
