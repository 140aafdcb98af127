"""What of a summarizer's answers is stored in the details of an entry (T-95)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree import SessionManager, SummaryResult, Usage
from sessiontree.commands.summaries.answer_details import answer_details

ONE: dict[str, Any] = {"input": 1, "output": 2, "totalTokens": 3, "cost": {"input": 0.25, "total": 0.5}}


def used(usage: Usage | dict[str, Any] | None = None, **details: Any) -> SummaryResult:
    return SummaryResult("text", usage=usage, details=details or None)


def test_an_answer_that_tells_nothing_adds_nothing() -> None:
    """T-95."""
    assert answer_details([]) == {}
    assert answer_details([used(), used()]) == {}


def test_the_details_of_all_answers_are_stored_and_the_last_wins() -> None:
    assert answer_details([used(digest=True, model="a"), used(model="b")]) == {"digest": True, "model": "b"}


def test_a_usage_is_stored_in_the_form_of_the_file() -> None:
    """T-95, F-66: a dict is that form already, and is kept with all that it says."""
    usage = Usage(input=1, output=2, cache_read=3, cache_write=4, total_tokens=10, cost=0.5)
    assert answer_details([used({**ONE, "own": "x"}, digest=True)]) == {"digest": True, "usage": {**ONE, "own": "x"}}
    stored = answer_details([used(usage)])["usage"]
    assert stored["cost"] == {"total": 0.5}
    assert {name: stored[name] for name in ("input", "output", "cacheRead", "cacheWrite", "totalTokens")} == {
        "input": 1,
        "output": 2,
        "cacheRead": 3,
        "cacheWrite": 4,
        "totalTokens": 10,
    }


def test_the_usage_of_several_calls_is_summed() -> None:
    """T-95, F-66: field by field, also within the cost; what only one of them says is kept."""
    other = {"input": 10, "cacheRead": 5, "cost": {"total": 1.5, "output": 1}, "tier": "flex"}
    assert answer_details([used(ONE), used(), used(other)]) == {
        "usage": {
            "input": 11,
            "output": 2,
            "cacheRead": 5,
            "totalTokens": 3,
            "cost": {"input": 0.25, "output": 1, "total": 2.0},
            "tier": "flex",
        }
    }
    assert ONE["input"] == 1


@pytest.mark.parametrize(("one", "other"), [({"total": 0.5}, 1), (1, {"total": 0.5}), ("flex", "fast"), (1, "x")])
def test_of_what_cannot_be_summed_the_last_is_kept(one: object, other: object) -> None:
    """T-95: what a summarizer says in a form of its own makes nothing fail."""
    assert answer_details([used({"own": one}), used({"own": other})]) == {"usage": {"own": other}}


def test_a_count_that_is_none_takes_no_other_away() -> None:
    """T-95, T-97: it counts as 0; clients give None for what a server did not tell."""
    told, untold = used({"cacheRead": 5, "cost": {"total": 1}}), used({"cacheRead": None, "cost": None})
    assert answer_details([told, untold])["usage"] == {"cacheRead": 5, "cost": {"total": 1}}


def test_usages_of_both_forms_are_summed() -> None:
    """T-95, F-66."""
    total = answer_details([used(Usage(input=1, cost=0.5)), used(ONE)])["usage"]
    assert (total["input"], total["output"], total["cost"]) == (2, 2, {"input": 0.25, "total": 1.0})


async def test_a_session_counts_the_whole_usage_that_a_summarizer_told() -> None:
    """T-95 as settled, T-96, F-66: premium requests and orchestration too."""
    told = Usage(1, 2, 3, 4, 10, 0.5, 0.25, 11, 12, 13)
    async with SessionManager.in_memory() as session:
        first = await session.append_message({"role": "user", "content": "q"})
        await session.append_compaction("s", first, 7, answer_details([used(told)]))
        assert session.usage == told
