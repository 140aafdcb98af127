"""Random odd logs: between any two entries is left what the naive model says (N-40..N-47)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.projections.abandoned_path import AbandonedPath, abandoned_path

Factory = Callable[..., Any]


def naive(model: Any, old_leaf: str | None, target: str | None) -> AbandonedPath:
    old, new = model.path(old_leaf), model.path(target)
    common = [entry_id for entry_id in old if entry_id in new]
    return AbandonedPath([entry_id for entry_id in old if entry_id not in new], common[-1] if common else None)


@settings(max_examples=200)
@given(data=st.data())
def test_between_any_two_entries_of_an_odd_log(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], fed_log: Factory, naive_log: Factory
) -> None:
    """N-40..N-47: orphans, cycles, duplicates, children before parents; asked while the log still grows, too."""
    entries = data.draw(odd_logs)
    fed = fed_log(entries)
    for position in sorted({data.draw(st.integers(0, len(entries))), len(entries)}):
        fed.feed(position - fed.projector.position)
        model = naive_log(entries[:position])
        for old_leaf in [None, *model.live]:
            for target in [None, *model.live]:
                found = abandoned_path(fed.projector.tree, fed.seq(old_leaf), fed.seq(target))
                assert found == naive(model, old_leaf, target)
