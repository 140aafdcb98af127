"""What a model's server said, as the answer of a summarizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...eventstore.errors import SummaryError
from .summarizer import SummaryResult


@contextmanager
def readable_answer() -> Iterator[None]:
    """Raises `SummaryError` for what an official client raises while it reads an answer that is none."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        detail = str(error) or type(error).__name__
        raise SummaryError(f"the server's answer cannot be read: {detail}") from error


def model_answer(
    text: str, reason: str | None, known: Mapping[str, str], usage: Mapping[str, Any] | None
) -> SummaryResult:
    """Return the answer; `known`: the provider's stop reasons in our words, everything else is an error."""
    if reason is None:
        return SummaryResult("the stream ended in the middle of the answer", "error")
    if reason not in known:
        return SummaryResult(f"the model stopped with {reason}", "error")
    return SummaryResult(text, known[reason], usage)
