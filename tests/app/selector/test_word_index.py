"""A search through the words of all rows finds what a search through each row finds (settled U-58, U-59)."""

from __future__ import annotations

from itertools import compress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.app.selector.word_index import WordIndex
from sessiontree.app.tree_search import matches, query_tokens
from sessiontree.projections.folding import fold

# Few letters, so that tokens are found in order within a word, over words and not at all; and any text.
texts = (
    st.text("abcde \t\u3000", max_size=30)
    | st.text("ＡaÁ\u0301ßﾕ漢字İ. \x1f\u2028", max_size=12)
    | st.text(max_size=20)
)
queries = (
    st.text("abcde ", min_size=1, max_size=9)
    | st.text("aAáßSsユ漢字i. ", min_size=1, max_size=6)
    | st.text(max_size=5)
)


def found(rows: list[str], query: str) -> set[int]:
    """Where all words of a query are found; the rows come in any order."""
    index = WordIndex(len(rows))
    for row in reversed(range(len(rows))):
        index.add(row, fold(rows[row]))
    everywhere = set(range(len(rows)))
    return everywhere.intersection(*(compress(everywhere, index.find(token)) for token in query_tokens(query)))


@given(st.lists(texts, max_size=8), queries)
def test_the_index_finds_the_rows_that_match(rows: list[str], query: str) -> None:
    """U-58, U-59: for every text and every query that is not blank."""
    tokens = query_tokens(query)
    if tokens:
        expected = {row for row, text in enumerate(rows) if matches(tokens, fold(text))}
        assert found(rows, query) == expected


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("context", {0, 1}),
        ("ctx", {0, 1}),
        ("cxt", set()),
        ("the", {0, 2}),
        ("the context", {0}),
        ("context the", {0}),
        ("tc", set()),
        ("x", {0, 1}),
        ("context nowhere", set()),
        ("nowhere at all", set()),
    ],
)
def test_a_word_is_found_by_a_part_or_with_letters_left_out(query: str, rows: set[int]) -> None:
    """U-59, X-156: every word, never over the end of one."""
    assert found(["the context", "context, context", "the rest"], query) == rows


def test_words_that_come_after_a_search_are_found() -> None:
    """Texts come in while one searches."""
    index = WordIndex(2)
    masks = []
    for position in range(2):
        index.add(position, "text")
        masks.append(list(index.find("tex")))
    assert masks == [[1, 0], [1, 1]]


@pytest.mark.parametrize("token", ["a" * 40 + "b", "ab" * 20, "b" + "a" * 40])
def test_no_word_takes_long(token: str) -> None:
    """A word of a million letters, and a token that is nearly found at each of them."""
    index = WordIndex(1)
    index.add(0, "a" * 1_000_000)
    assert list(index.find(token)) == [0]
