"""What makes a summary: the protocol, what it is asked, and what counts as an answer (design D11)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from ...eventstore.abort import AbortSignal
from ...eventstore.cancellation import is_being_cancelled
from ...eventstore.errors import AbortError, SummaryError
from ...projections.usage import Usage

_LONGEST_ERROR = 500
_CUT = frozenset({"length", "max_tokens"})


class SummaryRequest(Struct, frozen=True):
    """One question for a summarizer.

    A model gets `system_prompt` and, as the one user message, `prompt`, which holds the transcript and the
    instructions. Who makes a summary without a model reads `messages`, in the file's own form, and
    `previous_summary`, which the new one has to carry on. `max_tokens`: of the answer.
    """

    purpose: Literal["branch", "history", "turn_prefix"]
    system_prompt: str
    prompt: str
    max_tokens: int
    messages: list[dict[str, Any]]
    previous_summary: str | None = None


class SummaryResult(Struct, frozen=True):
    """The answer. `stop_reason`: `"stop"`, `"length"` (cut), `"error"` (`text` says why) or `"aborted"`.

    `usage` of the call is stored with the entry, and counted: a `Usage`, or a dict in the file's form (F-66).
    `details` are stored with the entry too.
    """

    text: str
    stop_reason: str = "stop"
    usage: Usage | Mapping[str, Any] | None = None
    details: Mapping[str, Any] | None = None


class Summarizer(Protocol):
    """Makes summaries. It should end soon when the signal is aborted; nobody waits for it then."""

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult | str:
        """Return the summary; a string is one that is whole."""
        ...


async def make_summary(summarizer: Summarizer, request: SummaryRequest, signal: AbortSignal) -> SummaryResult:
    """Ask a summarizer and check its answer.

    Raises `AbortError` when the signal is aborted or the summarizer says so, and `SummaryError` for everything
    that it raises, for an empty or a cut summary, and for what is no summary (N-6B, K-55).
    """
    try:
        answer = await signal.run(summarizer.summarize(request, signal=signal))
    except (AbortError, SummaryError):
        raise
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        raise SummaryError("the summarizer cancelled itself") from error
    except Exception as error:
        raise SummaryError(_told(error)) from error
    return _checked(SummaryResult(answer) if isinstance(answer, str) else answer)


def _told(error: Exception) -> str:
    """Return what an error says on one line, with the status of a server's answer."""
    text = " ".join(str(error).split()) or type(error).__name__
    if len(text) > _LONGEST_ERROR:
        text = text[:_LONGEST_ERROR] + "…"
    status = getattr(error, "status_code", None)
    return text if status is None or str(status) in text else f"status {status}: {text}"


def _checked(result: object) -> SummaryResult:
    if not isinstance(result, SummaryResult):
        raise SummaryError(f"the summarizer returned {type(result).__name__}, no SummaryResult and no string")
    if not isinstance(result.text, str) or not isinstance(result.stop_reason, str):
        raise SummaryError("the summarizer returned a SummaryResult whose text or stop reason is no string")
    if not isinstance(result.usage, Usage | Mapping | None) or not isinstance(result.details, Mapping | None):
        raise SummaryError("the summarizer returned a SummaryResult whose usage or details are no mapping")
    if result.stop_reason == "aborted":
        raise AbortError("the summarizer stopped")
    if result.stop_reason == "error":
        raise SummaryError(result.text.strip() or "the summarizer gave no reason")
    if result.stop_reason in _CUT:
        raise SummaryError("the summary was cut at its greatest length")
    if not result.text.strip():
        raise SummaryError("the summary is empty")
    return result
