"""What counts as the answer of a handler, and what is none (N-10, N-11, N-53)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from sessiontree import (
    AbortSignal,
    HookFault,
    Hooks,
    SessionBeforeBranchResult,
    SessionBeforeTreeEvent,
    SessionBeforeTreeResult,
    SuppliedSummary,
    TreePreparation,
)

NAME = "session_before_tree"
SUPPLIED = SessionBeforeTreeResult(summary=SuppliedSummary("kept"))


async def ask(hooks: Hooks) -> SessionBeforeTreeResult | None:
    signal = AbortSignal()
    event = SessionBeforeTreeEvent(TreePreparation("t", None, None, [], True), signal)
    return await hooks.ask(event, SessionBeforeTreeResult, signal)


@pytest.fixture
def faults(hooks: Hooks) -> list[HookFault]:
    """The faults that were reported."""
    reported: list[HookFault] = []
    hooks.on_error(reported.append)
    return reported


@pytest.fixture
def hooks() -> Hooks:
    """With one handler in front, whose answer counts when those behind it fail."""
    hooks = Hooks()
    hooks.on(NAME, lambda event: SUPPLIED)
    return hooks


class Unreadable(Mapping[str, Any]):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("broken mapping")

    def __iter__(self) -> Iterator[str]:
        return iter(["cancel"])

    def __len__(self) -> int:
        return 1


CYCLIC: dict[str, Any] = {}
CYCLIC["self"] = CYCLIC


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "answer",
    [
        True,
        "cancel",
        ["cancel"],
        SessionBeforeBranchResult(cancel=True),
        SuppliedSummary("not in its place"),
        {"cancel": "yes"},
        {"cancel": None},
        {"summary": "text"},
        {"summary": {}},
        {"summary": {"summary": 5}},
        SessionBeforeTreeResult(cancel=1),  # type: ignore[arg-type]
        SessionBeforeTreeResult(summary="text"),  # type: ignore[arg-type]
        {"summary": {"summary": "s", "details": object()}},
        SessionBeforeTreeResult(summary=SuppliedSummary("s", {"handler": ask})),
        {1: "no name"},
    ],
    ids=lambda answer: re.sub(" at 0x[0-9a-f]+", "", repr(answer)),
)
async def test_an_answer_of_the_wrong_kind_is_no_result(hooks: Hooks, faults: list[HookFault], answer: Any) -> None:
    """N-53 as settled: what is no result, or could not be stored; it replaces no earlier answer."""
    hooks.on(NAME, lambda event: answer)
    assert await ask(hooks) == SUPPLIED
    assert [fault.event for fault in faults] == [NAME]
    assert isinstance(faults[0].error, TypeError | ValueError)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"summary": {"summary": "s", "details": CYCLIC}}, id="cyclic"),
        pytest.param({"summary": {"summary": "s", "details": nested(500)}}, id="deep"),
        pytest.param({"summary": SuppliedSummary(5)}, id="inner"),  # type: ignore[arg-type]
        pytest.param(Unreadable(), id="unreadable"),
    ],
)
async def test_an_answer_that_cannot_be_read_or_stored_is_no_result(
    hooks: Hooks, faults: list[HookFault], answer: Any
) -> None:
    """N-53 as settled: found out before anything is done with it."""
    hooks.on(NAME, lambda event: answer)
    assert await ask(hooks) == SUPPLIED
    assert [fault.event for fault in faults] == [NAME]


@pytest.mark.parametrize("answer", [{"cancel": True}, SessionBeforeTreeResult(cancel=True)])
async def test_results_are_structs_or_mappings_of_their_fields(
    hooks: Hooks, faults: list[HookFault], answer: Any
) -> None:
    """N-10: a field that is not known means nothing."""
    hooks.on(NAME, lambda event: {**answer, "more": 1} if isinstance(answer, dict) else answer)
    assert await ask(hooks) == SessionBeforeTreeResult(cancel=True)
    assert faults == []
