"""Open calls, failed turns, and the pairing of calls and results (C-40, C-41)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from sessiontree.projections.tool_pairs import (
    ORPHAN_ERROR_INTRO,
    ORPHAN_RESULT_INTRO,
    CallIds,
    drop_failed_turns,
    drop_open_tool_calls,
    pair_tool_calls,
)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: Any, name: Any = "bash") -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {}}


def assistant(*content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), **fields}


def result(call_id: Any, value: str = "out", **fields: Any) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "bash",
        "content": [text(value)],
        **fields,
    }


def user(value: str) -> dict[str, Any]:
    return {"role": "user", "content": value}


SIGNED = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig", "extra": 1}
REDACTED = {"type": "redactedThinking", "data": "xx"}


def test_nothing_changes_when_every_call_has_its_result() -> None:
    """X-86, C-40: a paired turn keeps calls, signatures and redacted thinking; same objects, a new list."""
    messages = [user("q"), assistant(SIGNED, REDACTED, call("t1"), call("t2")), result("t1"), result("t2")]
    kept, open_ids = drop_open_tool_calls(messages)
    assert open_ids == []
    assert kept is not messages
    assert all(mine is theirs for mine, theirs in zip(kept, messages, strict=True))


def test_open_calls_at_the_leaf_are_left_out_of_a_copy() -> None:
    """X-84, C-40: redacted thinking dropped, signatures cleared, thinking text and text kept."""
    turn = assistant(SIGNED, REDACTED, text("calling"), call("t1"), call("t2"), model="m", stopReason="toolUse")
    messages = [user("q"), turn]
    before = deepcopy(messages)
    kept, open_ids = drop_open_tool_calls(messages)
    assert open_ids == ["t1", "t2"]
    assert kept[0] is messages[0]
    thinking = {"type": "thinking", "thinking": "hm", "extra": 1}
    assert kept[1] == assistant(thinking, text("calling"), model="m", stopReason="toolUse")
    assert messages == before


def test_a_turn_of_open_calls_only_is_dropped() -> None:
    """X-85, C-40: nothing remains, so the turn goes."""
    messages = [user("q"), assistant(REDACTED, call("t1")), user("next")]
    assert drop_open_tool_calls(messages) == ([messages[0], messages[2]], ["t1"])


def test_a_paired_turn_stays_while_an_open_call_before_it_goes() -> None:
    """X-86, C-40: each turn for itself, and only the open call of a turn goes."""
    mixed = assistant(call("open"), call("t1"), text("x"))
    paired = assistant(SIGNED, call("t2"))
    kept, open_ids = drop_open_tool_calls([mixed, result("t1"), paired, result("t2")])
    assert open_ids == ["open"]
    assert kept[0] == assistant(call("t1"), text("x"))
    assert kept[2] is paired


def test_a_result_anywhere_answers_a_call() -> None:
    """C-40: anywhere in the messages, also before the call."""
    messages = [result("t1"), user("q"), assistant(call("t1"))]
    assert drop_open_tool_calls(messages) == (messages, [])


def test_cutting_a_path_between_two_results_leaves_one_call_open() -> None:
    """Case 80: at the first result the second call is left out and named; at the call, both."""
    turn = assistant(text("calling two"), call("t1"), call("t2"))
    kept, open_ids = drop_open_tool_calls([user("q1"), turn, result("t1", "one")])
    assert kept[1]["content"] == [text("calling two"), call("t1")]
    assert open_ids == ["t2"]
    kept, open_ids = drop_open_tool_calls([user("q1"), turn])
    assert kept[1]["content"] == [text("calling two")]
    assert open_ids == ["t1", "t2"]


def test_a_result_without_its_call_stays_as_stored() -> None:
    """Case 39, C-40: the context keeps it."""
    messages = [{"role": "compactionSummary", "summary": "sum"}, result("t2", "two"), assistant(text("done"))]
    assert drop_open_tool_calls(messages) == (messages, [])


def test_a_call_whose_id_is_no_string_is_open_without_a_name() -> None:
    """C-40: nothing can answer it."""
    odd = assistant(text("x"), call(None), call(["t"]), {"type": "toolCall"})
    assert drop_open_tool_calls([odd, result(None), result(["t"])])[0][0] == assistant(text("x"))
    assert drop_open_tool_calls([odd])[1] == []


@pytest.mark.parametrize("content", [None, "text", 5, {}, [None, "x", 3]])
def test_odd_assistant_content_is_left_alone(content: Any) -> None:
    """C-40: no call, no change."""
    message = {"role": "assistant", "content": content}
    kept, _ = drop_open_tool_calls([message])
    assert kept[0] is message
    assert drop_failed_turns([message])[0] is message


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_failed_turns_go_with_the_results_of_their_calls(reason: str) -> None:
    """X-87, C-41: at the end and before it, synthetic results too."""
    good = assistant(call("t0"), stopReason="toolUse")
    messages = [
        user("q"),
        good,
        result("t0"),
        assistant(text("half"), call("t1"), stopReason=reason),
        result("t1", "not run"),
        user("again"),
        assistant(text("half"), stopReason=reason),
    ]
    before = deepcopy(messages)
    assert drop_failed_turns(messages) == [messages[0], good, messages[2], messages[5]]
    assert messages == before


def test_a_failed_turn_stays_when_its_continuation_follows_at_once() -> None:
    """X-87, C-41: the custom message `interrupted-thinking` keeps the turn before it."""
    note = {"role": "custom", "customType": "interrupted-thinking", "content": "hm", "display": False}
    failed = assistant(text("half"), call("t1"), stopReason="aborted")
    messages = [failed, note, result("t1")]
    assert drop_failed_turns(messages) == messages
    assert drop_failed_turns([failed, user("x"), note]) == [user("x"), note]
    other = {**note, "customType": "note"}
    assert drop_failed_turns([failed, other]) == [other]


def test_a_retry_that_uses_the_id_again_keeps_its_own_result() -> None:
    """C-41: a result answers the nearest call above it."""
    failed = assistant(call("t1"), stopReason="error")
    retry = assistant(call("t1"), stopReason="toolUse")
    messages = [failed, result("t1", "no"), retry, result("t1", "yes")]
    assert drop_failed_turns(messages) == [retry, result("t1", "yes")]


def test_without_a_failed_turn_all_messages_are_the_same_objects() -> None:
    """C-41: nothing to do."""
    messages = [user("q"), assistant(text("a"), stopReason="stop"), {"role": "user", "stopReason": "error"}]
    kept = drop_failed_turns(messages)
    assert kept is not messages
    assert all(mine is theirs for mine, theirs in zip(kept, messages, strict=True))


def paired(messages: list[dict[str, Any]]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    return [(turn.message, turn.results) for turn in pair_tool_calls(messages)]


def test_results_stand_with_their_turn_in_the_order_of_its_calls() -> None:
    """Whatever stands between, and in whatever order the results came."""
    turn = assistant(text("a"), call("t1"), call("t2"))
    messages = [turn, user("steer"), result("t2", "two"), result("t1", "one")]
    assert paired(messages) == [(turn, [result("t1", "one"), result("t2", "two")]), (user("steer"), [])]


def test_a_result_above_its_call_is_paired_too() -> None:
    assert paired([result("t1"), assistant(call("t1"))]) == [(assistant(call("t1")), [result("t1")])]


def test_a_call_id_used_twice_pairs_each_result_with_the_nearest_call_above() -> None:
    messages = [assistant(call("t")), result("t", "one"), assistant(call("t")), result("t", "two")]
    assert [turn.results for turn in pair_tool_calls(messages)] == [
        [result("t", "one")],
        [result("t", "two")],
    ]
    assert paired([assistant(call("t"), text("lost")), assistant(call("t")), result("t")]) == [
        (assistant(text("lost")), []),
        (assistant(call("t")), [result("t")]),
    ]


def test_a_turn_that_loses_a_call_loses_its_signatures() -> None:
    """C-40: also in a conversion that is given raw messages."""
    kept = assistant({"type": "thinking", "thinking": "hm", "extra": 1}, call("t1"))
    assert paired([assistant(SIGNED, REDACTED, call("t1"), call("t2")), result("t1")]) == [(kept, [result("t1")])]
    assert paired([assistant(call("t1"))]) == []


def test_a_result_without_a_call_becomes_a_user_message_in_its_place() -> None:
    """Settled: providers reject such results."""
    turn = assistant(call("t1"))
    messages = [
        result("gone", "old"),
        turn,
        result("gone", "no", isError=True),
        result("t1"),
        result("t1", "again"),
    ]
    orphans = [
        {"role": "user", "content": [text(ORPHAN_RESULT_INTRO.format(tool="bash")), text("old")]},
        {"role": "user", "content": [text(ORPHAN_ERROR_INTRO.format(tool="bash")), text("no")]},
        {"role": "user", "content": [text(ORPHAN_RESULT_INTRO.format(tool="bash")), text("again")]},
    ]
    assert paired(messages) == [(orphans[0], []), (turn, [result("t1")]), (orphans[1], []), (orphans[2], [])]


@pytest.mark.parametrize("odd", [call(""), call(None), call("t1", ""), call("t1", None), call(["t1"])])
def test_a_call_without_an_id_or_a_name_cannot_be_sent(odd: dict[str, Any]) -> None:
    turns = paired([assistant(text("a"), odd), result("t1"), {"role": "toolResult", "toolCallId": ["t1"]}])
    assert turns[0] == (assistant(text("a")), [])
    assert [message["role"] for message, _ in turns] == ["assistant", "user", "user"]


def test_ids_that_fit_stay_and_others_are_put_right_without_a_clash() -> None:
    ids = CallIds(8)
    assert ids.take("toolu_1") == "toolu_1"
    assert ids.take("a|b") == "a_b"
    assert ids.take("a_b") == "a_b_2"
    assert ids.take("a/b") == "a_b_3"
    assert ids.take("123456789") == "12345678"
    assert ids.take("12345678") == "123456_2"
    assert ids.take("日") == "_"


def test_many_calls_with_one_id_are_handled_in_linear_time() -> None:
    """A quadratic walk over these would not end within any patience."""
    count = 30_000
    messages = [assistant(call("t")) for _ in range(count)] + [result("t") for _ in range(count)]
    assert len(pair_tool_calls(messages)) == count
    assert len(drop_failed_turns([*messages, assistant(stopReason="error")])) == 2 * count
    ids = CallIds(40)
    assert len({ids.take("t") for _ in range(count)}) == count


def test_two_calls_with_one_id_in_one_turn_get_their_results_in_order() -> None:
    """C-40: results come in the calls' order, and the last turn with the id is answered first."""
    first, second = result("x", "1"), result("x", "2")
    [turn] = pair_tool_calls([assistant(call("x"), call("x")), first, second])
    assert turn.results == [first, second]
    earlier, later = pair_tool_calls([assistant(call("x")), first, assistant(call("x")), second])
    assert (earlier.results, later.results) == ([first], [second])
