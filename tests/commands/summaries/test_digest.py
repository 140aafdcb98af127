"""Summaries without a model (design D11)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree import AbortController, AbortError, DigestSummarizer, SummaryRequest, SummaryResult

Fields = dict[str, Any]


def user(said: str) -> Fields:
    return {"role": "user", "content": said}


def reply(said: str, *calls: Fields) -> Fields:
    return {"role": "assistant", "content": [{"type": "text", "text": said}, *calls]}


def call(tool: str, **arguments: str) -> Fields:
    return {"type": "toolCall", "id": "t", "name": tool, "arguments": arguments}


def result(*, failed: bool = False) -> Fields:
    return {"role": "toolResult", "toolCallId": "t", "content": [], "isError": failed}


async def digest(*messages: Fields, previous: str | None = None) -> SummaryResult:
    request = SummaryRequest("history", "", "", 100, list(messages), previous)
    return await DigestSummarizer().summarize(request, signal=AbortController().signal)


async def test_a_digest_quotes_counts_and_lists() -> None:
    """D11: the first and the last request, the last answer, tools by name, errors, files."""
    messages = [
        user("first?"),
        reply("sure", call("read", path="a.py:1-5"), call("bash")),
        result(),
        result(failed=True),
        user("second?"),
        user(" last? "),
        reply("done", call("edit", path="a.py"), call("bash")),
        result(failed=True),
        reply(""),
    ]
    answer = await digest(*messages)
    assert answer.text == (
        "## First request\nfirst?\n\n## Last request\nlast?\n\n## Last answer\ndone\n\n"
        "## Tools\n4 calls (bash 2, edit 1, read 1), 2 errors\n\n"
        "<files>\na.py (RW)\n</files>"
    )
    assert answer == await digest(*messages)


async def test_a_digest_is_marked_as_one_and_is_a_whole_answer() -> None:
    """D11."""
    answer = await digest(user("q"))
    assert (answer.details, answer.usage, answer.stop_reason) == ({"digest": True}, None, "stop")


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([user("q")], "## First request\nq"),
        ([user("q"), user("p")], "## First request\nq\n\n## Last request\np"),
        ([{"role": "user", "content": [*reply("a")["content"], *reply("b")["content"]]}], "## First request\na\nb"),
        ([reply("r")], "## Last answer\nr"),
        ([reply("", {"type": "toolCall"})], "## Tools\n1 calls ((unnamed) 1), 0 errors"),
        ([user(" "), result(failed=True)], "(nothing was said)"),
        ([], "(nothing was said)"),
    ],
)
async def test_what_there_is_not_is_not_in_it(messages: list[Fields], text: str) -> None:
    """D11: yet a digest is never empty (N-6B)."""
    assert (await digest(*messages)).text == text


async def test_a_digest_carries_the_earlier_summary_on() -> None:
    """D11, K-51: without the files that it listed."""
    earlier = "what was\n\n<files>\nold.py (Read)\n</files>"
    answer = await digest(user("q"), previous=earlier)
    assert answer.text == "## Earlier summary\nwhat was\n\n## First request\nq"


async def test_a_long_text_is_quoted_by_its_beginning() -> None:
    """D11."""
    assert (await digest(user("x" * 600))).text == "## First request\n" + "x" * 600
    assert (await digest(user("x" * 601))).text == "## First request\n" + "x" * 600 + "…"
    assert (await digest(user("x" * 599 + "  yy"))).text == "## First request\n" + "x" * 599 + "…"


async def test_an_aborted_digest_is_not_made() -> None:
    """D8."""
    controller = AbortController()
    controller.abort("enough")
    with pytest.raises(AbortError, match="enough"):
        await DigestSummarizer().summarize(SummaryRequest("branch", "", "", 1, []), signal=controller.signal)


async def test_summaries_are_no_requests_and_are_carried_on() -> None:
    """D11: what was summarized before stands before what is new; what a person ran is no request."""
    messages = [
        {"role": "compactionSummary", "summary": "long ago"},
        {"role": "bashExecution", "command": "ls", "output": "o"},
        {"role": "user", "content": "q"},
        {"role": "branchSummary", "summary": "elsewhere"},
    ]
    text = (await digest(*messages)).text
    assert text == "## Earlier summary\nlong ago\n\nelsewhere\n\n## First request\nq"
