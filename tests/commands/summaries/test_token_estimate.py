"""How many tokens messages take, by the estimate and by what the provider said (K-13, K-20..K-22)."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import AgentSettings, SessionEntry, estimate_tokens
from sessiontree.commands.summaries.token_estimate import ContextUsage, context_tokens, last_usage

Path = Callable[..., list[SessionEntry]]
Fields = dict[str, Any]

IMAGE: Fields = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SPEAKING = ["user", "developer", "custom", "hookMessage", "toolResult", "assistant"]


def text(said: str) -> Fields:
    return {"type": "text", "text": said}


def reply(**fields: Any) -> Fields:
    return {"role": "assistant", "content": [], **fields}


@pytest.mark.parametrize(("said", "tokens"), [("", 0), ("1", 1), ("1234", 1), ("12345", 2), ("é" * 4, 2), ("日本", 2)])
def test_a_text_takes_a_token_for_each_four_bytes_begun(said: str, tokens: int) -> None:
    """K-20 as settled: `ceil(utf8 bytes / 4)`."""
    assert estimate_tokens({"role": "user", "content": said}) == tokens


def test_half_an_emoji_is_estimated_too() -> None:
    """K-20, F-06: a lone surrogate has no UTF-8 of its own."""
    assert estimate_tokens({"role": "user", "content": "\ud83d"}) == 1
    call = {"type": "toolCall", "name": "", "arguments": {"text": "\ud83d"}}
    assert estimate_tokens(reply(content=[call])) == 5


@pytest.mark.parametrize("role", SPEAKING)
def test_text_is_rounded_up_once_and_each_image_takes_1200(role: str) -> None:
    """K-20 as settled, K-21 → rec: role `custom` and the images of users count like all others."""
    content = [text("12"), IMAGE, text("345"), IMAGE]
    assert estimate_tokens({"role": role, "content": content}) == 2 + 2 * 1_200


def test_of_an_assistant_thinking_and_tool_calls_count_but_no_signature() -> None:
    """K-20: the arguments as compact JSON; X-128: encrypted reasoning does not count."""
    blocks = [
        text("1234"),
        {"type": "thinking", "thinking": "12345678", "thinkingSignature": "s" * 400},
        {"type": "redactedThinking", "data": "d" * 400},
        {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"n": 1, "s": "ab"}},
    ]
    assert estimate_tokens(reply(content=blocks)) == (4 + 8 + 4 + len('{"n":1,"s":"ab"}')) / 4


def test_an_argument_may_be_a_number_beyond_64_bits() -> None:
    """K-20, X-128."""
    assert estimate_tokens(reply(content=[{"type": "toolCall", "name": "n", "arguments": 10**30}])) == 8


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "bashExecution", "command": "1234", "output": "56789"}, 3),
        ({"role": "pythonExecution", "code": "1234", "output": "56789"}, 3),
        ({"role": "branchSummary", "summary": "12345678"}, 2),
        ({"role": "compactionSummary", "summary": "12345678", "shortSummary": "1234"}, 2),
        ({"role": "fileMention", "files": [{"path": "1234", "content": "5678"}]}, 2),
        ({"role": "fileMention", "files": [{"path": "1234", "image": IMAGE}]}, 1_201),
    ],
)
def test_executions_summaries_and_files_take_what_is_told_of_them(message: Fields, tokens: int) -> None:
    """K-20."""
    assert estimate_tokens(message) == tokens


@pytest.mark.parametrize(
    "message",
    [
        {"role": "unheard-of", "content": "text", "summary": "text"},
        {"role": ["user"], "content": "text"},
        {"content": "text"},
        {"role": "user", "content": 5},
        {"role": "user", "content": ["text", {"text": "text"}, {"type": "text", "text": 5}]},
        {"role": "user", "content": [{"type": "thinking", "thinking": "text"}]},
        {"role": "bashExecution", "command": None},
        {"role": "fileMention", "files": "text"},
    ],
)
def test_what_no_model_sees_takes_nothing(message: Fields) -> None:
    """K-20: other roles 0; what is of the wrong kind says nothing."""
    assert estimate_tokens(message) == 0


blocks = st.one_of(
    st.text(max_size=20).map(text),
    st.just(IMAGE),
    st.text(max_size=20).map(lambda said: {"type": "thinking", "thinking": said}),
    st.dictionaries(st.text(max_size=3), st.text(max_size=9), max_size=2).map(
        lambda arguments: {"type": "toolCall", "id": "t", "name": "n", "arguments": arguments}
    ),
)


@given(st.sampled_from(SPEAKING), st.lists(blocks, max_size=4), blocks, st.data())
def test_a_message_with_a_block_more_is_never_smaller(
    role: str, content: list[Fields], more: Fields, data: st.DataObject
) -> None:
    """K-20: and is at most as large as both parts alone."""
    place = data.draw(st.integers(0, len(content)))
    grown = estimate_tokens({"role": role, "content": [*content[:place], more, *content[place:]]})
    size, added = (estimate_tokens({"role": role, "content": part}) for part in (content, [more]))
    assert max(size, added) <= grown <= size + added


def test_the_estimate_is_what_a_session_uses_unless_it_is_replaced() -> None:
    """K-20 as settled: pluggable."""
    assert AgentSettings().estimate_tokens is estimate_tokens
    assert AgentSettings(estimate_tokens=lambda message: 7).estimate_tokens({"role": "user"}) == 7


PARTS: Fields = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}
SPENT: Fields = {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 100}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (PARTS, 10),
        ({}, 0),
        (dict.fromkeys(PARTS, 0), 0),
        ({**PARTS, "totalTokens": 50}, 50),
        ({**PARTS, "totalTokens": 0}, 10),
        ({**PARTS, "totalTokens": 50, "contextTokens": 7}, 7),
        ({**PARTS, "contextTokens": 0}, 0),
        ({**PARTS, "contextTokens": -1}, 0),
        ({**PARTS, "totalTokens": 50, "orchestration": SPENT}, 50 - 5 - 6 - 7),
        ({**PARTS, "orchestration": SPENT}, 0),
        ({**PARTS, "contextTokens": 7, "orchestration": SPENT}, 7),
        ({"totalTokens": 50.9}, 50),
    ],
)
def test_the_size_of_a_context_is_what_was_told_or_the_sum_without_orchestration(usage: Fields, tokens: int) -> None:
    """K-13, X-122, X-123."""
    assert context_tokens(usage) == tokens


@pytest.mark.parametrize("odd", ["7", None, True, inf, nan, [7]])
def test_a_count_that_is_no_number_is_not_there(odd: object) -> None:
    """K-13, T-97."""
    assert context_tokens({**PARTS, "contextTokens": odd, "totalTokens": odd, "orchestration": odd}) == 10
    assert context_tokens({**PARTS, "cacheRead": odd}) == 7


def test_a_count_may_have_more_digits_than_a_float_can_take() -> None:
    """K-13, T-97: nothing that is stored in a usage makes this fail; `decode_json` gives such integers."""
    assert context_tokens({**PARTS, "totalTokens": 10**400}) in (10, 10**400)


def test_the_last_usage_is_that_of_the_newest_answer_that_did_not_fail(path: Path) -> None:
    """K-22, X-124; the prompt is what the model read."""
    entries = path(
        reply(usage={"totalTokens": 1}),
        reply(usage={**PARTS, "totalTokens": 50}, stopReason="length"),
        reply(usage={"totalTokens": 3}, stopReason="aborted"),
        reply(usage={"totalTokens": 4}, stopReason="error"),
        reply(),
        reply(usage="5"),
        {"role": "toolResult", "toolCallId": "t", "content": [], "usage": {"totalTokens": 6}},
        {"type": "custom", "customType": "note", "data": {"role": "assistant", "usage": {"totalTokens": 7}}},
    )
    assert last_usage(entries) == last_usage(entries[:-1]) == ContextUsage(1, 50, prompt=1 + 3 + 4)
    assert last_usage(entries[:2]) == ContextUsage(1, 50, prompt=1 + 3 + 4)


def test_without_such_an_answer_there_is_no_last_usage(path: Path) -> None:
    """K-22, X-124."""
    assert last_usage([]) is None
    assert last_usage(path({"role": "user", "content": "q"}, reply(usage=PARTS, stopReason="aborted"))) is None


@pytest.mark.parametrize("count", [1e308, -1e308, 10**400])
def test_a_count_that_nothing_can_have_is_none(count: float) -> None:
    """K-13, T-97: sums of them must not overflow."""
    assert context_tokens({"input": count, "cacheRead": count, "output": 5}) == 5
