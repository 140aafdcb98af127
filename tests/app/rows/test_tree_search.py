"""What a query finds (settled U-58..U-5A, case 73)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.tree_search import matches, query_tokens
from sessiontree.projections.folding import fold


def found(query: str, text: str) -> bool:
    return matches(query_tokens(query), fold(text))


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("会议", ["u1"]),
        ("排", ["u1"]),
        ("评审会", ["u1"]),
        ("café", ["u2"]),
        ("CAFÉ", ["u2"]),
        ("cafe\u0301", ["u2"]),
        ("STRASSE", ["u2"]),
        ("ﾕｰｻﾞｰ", ["a2"]),
        ("ユーザー", ["a2"]),
        ("100%_", ["a2"]),
        ("[x]", ["a2"]),
        ("(y", ["a2"]),
        ("done ok", ["a2"]),
        ("ok   done", ["a2"]),
        ("done 会议", []),
        (".*", []),
        ("", ["u1", "a1", "u2", "a2"]),
        (" \t", ["u1", "a1", "u2", "a2"]),
    ],
)
def test_case_73(query: str, hits: list[str], load_case: Any) -> None:
    """U-58, U-59, case 73: unspaced CJK, one character, case, width, accents; no pattern characters."""
    assert load_case(73).row_ids(query=query) == hits


@pytest.mark.parametrize(
    ("query", "text", "is_found"),
    [
        ("cntxt", "the context", True),
        ("ctx", "context", True),  # span 6, at most 6
        ("cxt", "context", False),  # span 7
        ("ct", "cabbt", False),  # span 5, at most 4
        ("abcdefghij", "a1b2c3d4e5f6g7h8ij", True),  # span 18, at most 18
        ("abcdefghij", "a1b2c3d4e5f6g7h8i9j", False),
        ("ab", "a b", False),
        ("ab", "axxxx axb", True),  # a later start is tried
        ("xtc", "context", False),
    ],
)
def test_a_token_may_leave_out_characters_of_one_word(query: str, text: str, is_found: bool) -> None:
    """U-59, X-156: in order, in one word, over at most max(n + 2, ⌈1.8 n⌉) characters."""
    assert found(query, text) is is_found


@given(st.text("ab c", max_size=14), st.text("abc", min_size=1, max_size=5))
def test_matching_agrees_with_the_rule_taken_literally(text: str, token: str) -> None:
    """U-59: against every window of every word."""
    span = max(len(token) + 2, -(-18 * len(token) // 10))
    windows = [word[start : start + span] for word in text.split() for start in range(len(word))]
    assert matches([token], text) is any(_is_subsequence(token, window) for window in windows)


def _is_subsequence(token: str, window: str) -> bool:
    rest = iter(window)
    return all(character in rest for character in token)


def test_label_summaries_and_tool_rows_are_searched_whole(make_tree: Any, make_entry: Any) -> None:
    """U-5A as settled: the whole rendered text, beyond what a row has room for, and a compaction's summary."""
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "src/parser.py"}}
    tree = make_tree(
        {"u": None, "a": "u", "r": "a", "k": "r", "s": "k"},
        "s",
        make_entry("u", content="x " * 300 + "needle"),
        make_entry("a", role="assistant", content=[{"type": "text", "text": "reading"}, call]),
        make_entry("r", role="toolResult", toolCallId="c", toolName="read", content="file body"),
        make_entry("k", "compaction", tokensBefore=5000, summary="chose a Hashtable"),
        make_entry("s", "branch_summary", summary="tried mmap"),
        u="Milestone",
    )
    hits = {"needle": "u", "milestone": "u", "parser.py": "r", "hashtable": "k", "compaction": "k", "mmap": "s"}
    for query, entry_id in hits.items():
        assert tree.row_ids(query=query) == [entry_id]
    assert tree.row_ids(query="file body") == []


def test_search_and_filter_both_apply_and_keep_the_order(make_tree: Any, make_entry: Any) -> None:
    """U-58."""
    other = make_entry("find2", role="developer", content="find2")
    tree = make_tree({"find1": None, "no": "find1", "find2": "no", "find3": "find2"}, "find3", other)
    assert tree.row_ids(query="FIND") == ["find1", "find2", "find3"]
    assert tree.row_ids(query="find", mode=FilterMode.USER_ONLY) == ["find1", "find3"]
