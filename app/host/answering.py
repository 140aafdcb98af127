"""One answer of a model, streamed into the conversation and recorded in the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...eventstore.errors import AbortError
from ...projections.context import Message
from .model_answers import Answers

if TYPE_CHECKING:
    from .host_app import HostApp


async def answer(host: HostApp, answers: Answers) -> None:
    """Have the context answered; what has come is recorded, also when it is stopped or fails.

    Compacts when it is due.
    """
    parts: list[str] = []
    stop_reason = failure = None
    with host.working("answering") as signal:
        try:
            context = await host.agent.get_context()
            await signal.run(_stream(host, answers, context.messages, parts))
        except AbortError:
            stop_reason = "aborted"
        except Exception as error:  # noqa: BLE001 - whatever a client raises is told, and kept with the answer
            stop_reason, failure = "error", str(error) or type(error).__name__
        await host.conversation.end_answer()
        entry_id = await host.session.append_message(answers.message("".join(parts), stop_reason, failure))
    await host.show_new(entry_id)
    with host.working("compacting") as signal:
        compacted = await host.agent.maybe_compact(signal=signal)
    if compacted is not None and compacted.result is not None:
        await host.show_session()
    host.say(compacted.error_message or "" if compacted is not None else "")


async def _stream(host: HostApp, answers: Answers, messages: Sequence[Message], parts: list[str]) -> None:
    async for part in answers.stream(messages):
        parts.append(part)
        host.conversation.show_part(part)
