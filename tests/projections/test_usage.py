"""Usage of all branches together (T-95..T-98)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import Usage

Factory = Callable[..., Any]
Fields = dict[str, Any]

FULL: Fields = {
    "input": 1,
    "output": 2,
    "cacheRead": 3,
    "cacheWrite": 4,
    "totalTokens": 10,
    "cost": {"input": 7.0, "output": 7.0, "cacheRead": 7.0, "cacheWrite": 7.0, "total": 0.5},
    "premiumRequests": 0.25,
    "orchestration": {"input": 11, "output": 12, "cacheRead": 13},
}
FULL_SUM = Usage(1, 2, 3, 4, 10, 0.5, 0.25, 11, 12, 13)


def reply(usage: Any) -> Fields:
    return {"type": "message", "message": {"role": "assistant", "content": [], "usage": usage}}


def result(tool: str, **fields: Any) -> Fields:
    message = {"role": "toolResult", "toolCallId": "t", "toolName": tool, "content": [], **fields}
    return {"type": "message", "message": message}


@pytest.fixture
def total(fed_log: Factory, chain: Factory) -> Callable[..., Usage]:
    """Returns the usage of a chain of these bodies."""

    def make(*bodies: Fields) -> Usage:
        found: Usage = fed_log(chain(*bodies)).feed().projector.usage.total
        return found

    return make


def test_nothing_was_used_at_first_and_numbers_are_whole(total: Callable[..., Usage]) -> None:
    """T-96."""
    assert total() == Usage()
    assert all(type(getattr(total(), name)) is int for name in Usage.__struct_fields__)


def test_every_count_of_a_reply_is_summed_and_orchestration_stays_apart(total: Callable[..., Usage]) -> None:
    """T-95, T-96, X-28: cost is the total that the reply says; requests may be fractions."""
    assert total(reply(FULL)) == FULL_SUM
    twice = total(reply(FULL), reply(FULL))
    assert twice == Usage(2, 4, 6, 8, 20, 1.0, 0.5, 22, 24, 26)
    assert [type(value) for value in (twice.input, twice.cost, twice.orchestration_input)] == [int, float, int]


def test_all_branches_count_whatever_the_leaf(fed_log: Factory, chain: Factory) -> None:
    """T-95, T-98."""
    side = chain(reply({"input": 20}), first=3, parent="e1")
    fed = fed_log([*chain(reply({"input": 1}), reply({"input": 5})), *side]).feed()
    assert fed.projector.usage.total.input == 26


def test_results_of_tasks_count_and_those_of_other_tools_do_not(total: Callable[..., Usage]) -> None:
    """T-95, X-28: `details.usage`, also beside a usage of the message's own."""
    assert total(result("task", details={"usage": FULL})) == FULL_SUM
    assert total(result("task", details={"usage": FULL}, usage={"input": 100})) == FULL_SUM
    assert total(result("bash", details={"usage": FULL}), result("task"), result("task", details=[1])) == Usage()


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_what_summaries_cost_counts(total: Callable[..., Usage], kind: str) -> None:
    """T-95 as settled: `details.usage` of compactions and branch summaries."""
    assert total({"type": kind, "summary": "s", "details": {"usage": FULL}}) == FULL_SUM
    assert total({"type": kind, "summary": "s", "details": {"readFiles": []}}) == Usage()


@pytest.mark.parametrize(
    "body",
    [
        {"type": "message", "message": {"role": "user", "content": "q", "usage": FULL}},
        {"type": "custom", "customType": "c", "data": 1, "message": reply(FULL)["message"]},
        {"type": "custom_message", "customType": "task", "content": "", "details": {"usage": FULL}},
        {"type": "from_the_future", "details": {"usage": FULL}, "usage": FULL},
    ],
)
def test_nothing_else_counts(total: Callable[..., Usage], body: Fields) -> None:
    """T-95."""
    assert total(body) == Usage()


@pytest.mark.parametrize("usage", [None, {}, [], "many", {"cost": None}, {"cost": 3, "orchestration": 4}])
def test_a_reply_without_usage_adds_nothing(total: Callable[..., Usage], usage: Any) -> None:
    """T-97."""
    assert total(reply(usage), {"type": "message", "message": {"role": "assistant"}}) == Usage()


def test_missing_and_odd_numbers_are_zero_and_the_others_count(total: Callable[..., Usage]) -> None:
    """T-97."""
    odd: Fields = {"input": None, "output": "5", "cacheRead": True, "cacheWrite": 4, "premiumRequests": 1, "cost": {}}
    found = total(reply(odd), reply({"orchestration": {"output": 2}}))
    assert found == Usage(cache_write=4, premium_requests=1, orchestration_output=2)
    assert type(found.premium_requests) is int


def test_the_total_is_a_snapshot(fed_log: Factory, chain: Factory) -> None:
    """T-98."""
    fed = fed_log(chain(reply(FULL))).feed()
    before = fed.projector.usage.total
    fed.add(*chain(reply(FULL), first=2, parent="e1"))
    assert (before, fed.projector.usage.total.input) == (FULL_SUM, 2)


def test_lines_whose_id_stands_again_count_too(fed_log: Factory, chain: Factory) -> None:
    """F-87 as settled: usage folds line by line, it was spent."""
    fed = fed_log([*chain(reply({"input": 1})), *chain(reply({"input": 2}))]).feed()
    assert (fed.projector.tree.entry_count, fed.projector.usage.total.input) == (1, 3)
