"""The registry of handlers: who is called, in which order, and what comes of their answers (N-50..N-55)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    Hooks,
    SessionBeforeBranchEvent,
    SessionBeforeBranchResult,
)

NAME = "session_before_branch"
EVENT = SessionBeforeBranchEvent("e1")
NAMES = [
    "auto_compaction_end",
    "auto_compaction_start",
    "session.compacting",
    "session_append",
    "session_before_branch",
    "session_before_compact",
    "session_before_tree",
    "session_branch",
    "session_compact",
    "session_tree",
]


async def ask(hooks: Hooks, signal: AbortSignal | None = None) -> SessionBeforeBranchResult | None:
    return await hooks.ask(EVENT, SessionBeforeBranchResult, signal or AbortSignal())


def answering(calls: list[Any], name: str, answer: Any, *, slow: bool = False) -> Callable[[Any], Any]:
    """A handler that notes that it was called, and answers."""

    def handler(event: Any) -> Any:
        calls.append(name)
        return answer

    async def slow_handler(event: Any) -> Any:
        await asyncio.sleep(0)
        return handler(event)

    return slow_handler if slow else handler


def test_there_is_an_event_for_each_moment() -> None:
    """The names of the format's home."""
    hooks = Hooks()
    for name in NAMES:
        hooks.on(name, print)
        assert hooks.has_handlers(name)
    with pytest.raises(ValueError, match=f"'session_befor_tree'.*{', '.join(NAMES)}"):
        hooks.on("session_befor_tree", print)


def test_handlers_are_there_until_they_are_removed() -> None:
    """X-157, N-09: each once, though the same is registered twice; removing again changes nothing."""
    hooks = Hooks()
    assert not hooks.has_handlers(NAME)
    first, second = hooks.on(NAME, print), hooks.on(NAME, print)
    assert hooks.has_handlers(NAME)
    assert not hooks.has_handlers("session_tree")
    first()
    assert hooks.has_handlers(NAME)
    second()
    first()
    assert not hooks.has_handlers(NAME)


def test_without_a_handler_it_decorates() -> None:
    hooks = Hooks()

    @hooks.on(NAME)
    def handler(event: Any) -> str:
        return "unchanged"

    assert handler(None) == "unchanged"
    assert hooks.has_handlers(NAME)
    with pytest.raises(ValueError, match="no event is named"):
        hooks.on("nope")


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="not str"):
        Hooks().on(NAME, "handler")  # type: ignore[call-overload]


async def test_without_handlers_there_is_no_answer() -> None:
    assert await ask(Hooks()) is None


async def test_handlers_are_called_one_after_the_other_in_order_of_registration() -> None:
    """X-136, N-50: a slow one holds up those behind it; other events are not theirs."""
    hooks, calls = Hooks(), list[Any]()
    hooks.on("session_tree", answering(calls, "other", None))
    for number in range(4):
        hooks.on(NAME, answering(calls, f"asked {number}", None, slow=number % 2 == 0))
    assert await ask(hooks) is None
    assert calls == [f"asked {number}" for number in range(4)]
    calls.clear()
    await hooks.tell(EVENT)
    assert calls == [f"asked {number}" for number in range(4)]


async def test_handlers_get_the_event_itself() -> None:
    """N-09."""
    hooks, seen = Hooks(), list[Any]()
    hooks.on(NAME, seen.append)
    await ask(hooks)
    await hooks.tell(EVENT)
    assert [one is EVENT for one in seen] == [True, True]


@pytest.mark.parametrize("slow", [False, True])
async def test_the_last_answer_counts_and_replaces_earlier_ones_as_a_whole(slow: bool) -> None:
    """N-51, N-52, N-55: none is no answer; an empty mapping is one."""
    hooks, calls = Hooks(), list[Any]()
    for answer in ({"skip_conversation_restore": True}, None):
        hooks.on(NAME, answering(calls, "x", answer, slow=slow))
    assert await ask(hooks) == SessionBeforeBranchResult(skip_conversation_restore=True)
    hooks.on(NAME, answering(calls, "x", {}, slow=slow))
    assert await ask(hooks) == SessionBeforeBranchResult()


async def test_the_first_that_cancels_ends_it() -> None:
    """N-51: those behind it are not called, and what came before does not count."""
    hooks, calls = Hooks(), list[Any]()
    answers = [{"skip_conversation_restore": True}, {"cancel": False}, {"cancel": True}, {}]
    for number, answer in enumerate(answers):
        hooks.on(NAME, answering(calls, str(number), answer))
    assert await ask(hooks) == SessionBeforeBranchResult(cancel=True)
    assert calls == ["0", "1", "2"]


async def test_what_is_told_cannot_be_cancelled() -> None:
    """N-52: answers mean nothing, of whatever kind, and are no faults."""
    hooks, calls, faults = Hooks(), list[Any](), list[Any]()
    hooks.on_error(faults.append)
    for number, answer in enumerate([{"cancel": True}, 5, "text", object()]):
        hooks.on(NAME, answering(calls, str(number), answer))
    await hooks.tell(EVENT)
    assert (calls, faults) == (["0", "1", "2", "3"], [])


async def test_who_comes_and_goes_meanwhile_counts_from_the_next_event_on() -> None:
    hooks, calls = Hooks(), list[Any]()

    @hooks.on(NAME)
    def change(event: Any) -> None:
        remove()
        hooks.on(NAME, answering(calls, "new", None))

    remove = hooks.on(NAME, answering(calls, "old", None))
    await ask(hooks)
    assert calls == ["old"]
    await ask(hooks)
    assert calls == ["old", "new"]


async def test_an_aborted_signal_ends_the_asking_and_not_the_telling() -> None:
    """N-39: the telling has no signal."""
    hooks, calls, controller = Hooks(), list[Any](), AbortController()
    hooks.on(NAME, lambda event: controller.abort("enough"))
    hooks.on(NAME, answering(calls, "second", None))
    with pytest.raises(AbortError, match="enough"):
        await ask(hooks, controller.signal)
    assert calls == []
    await hooks.tell(EVENT)
    assert calls == ["second"]
