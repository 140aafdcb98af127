"""The context of a leaf costs what is in its window, counted in steps up the tree (design D3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

import pytest

from sessiontree.projections.context import ContextWindow, context_window

Factory = Callable[..., Any]
Fields = dict[str, Any]

USER: Fields = {"type": "message", "message": {"role": "user", "content": "q"}}
PATH = 3000


class CountedSteps(list[int]):
    """The parents of a tree; `steps` counts how often one was looked up."""

    steps = 0

    def __getitem__(self, seq: Any) -> Any:
        assert isinstance(seq, SupportsIndex)
        self.steps += 1
        return super().__getitem__(seq)


@pytest.fixture
def window_and_steps(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[ContextWindow, int]]:
    """Finds the window of a leaf and counts the steps that it took."""

    def find(fed: Any, leaf: str) -> tuple[ContextWindow, int]:
        tree, states = fed.projector.tree, fed.projector.states
        states.at(fed.seq(leaf))
        counted = CountedSteps(tree.parents)
        with monkeypatch.context() as patch:
            patch.setattr(tree, "parents", counted)
            window = context_window(tree, states, tree.find(leaf))
        return window, counted.steps

    return find


@pytest.fixture
def long_chain(chain: Factory) -> Callable[..., list[Fields]]:
    """A long chain of user messages, `e1` to `e3000`, and these bodies below it."""

    def make(*more: Fields) -> list[Fields]:
        entries: list[Fields] = chain(*[USER] * PATH, *more)
        return entries

    return make


def test_behind_a_compaction_only_what_is_kept_and_follows_is_walked(
    fed_log: Factory, long_chain: Factory, window_and_steps: Factory
) -> None:
    """D3, C-31: asked for the first time."""
    compaction = {"type": "compaction", "summary": "S", "firstKeptEntryId": f"e{PATH - 9}", "tokensBefore": 1}
    fed = fed_log(long_chain(compaction, *[USER] * 5)).feed()
    window, steps = window_and_steps(fed, f"e{PATH + 6}")
    assert (len(window.speaking), window.compaction) == (15, PATH + 1)
    assert len(window.needed) == 16
    assert steps <= 2 * 16


def test_behind_a_reset_boundary_only_what_follows_is_walked(
    fed_log: Factory, long_chain: Factory, window_and_steps: Factory
) -> None:
    """D3, C-34."""
    fed = fed_log(long_chain({"type": "reset_boundary"}, USER)).feed()
    window, steps = window_and_steps(fed, f"e{PATH + 2}")
    assert (window.needed, steps <= 2) == ([PATH + 2], True)


@pytest.mark.parametrize("first_kept", ["ghost", f"e{PATH + 1}", f"e{PATH + 2}", None])
def test_a_first_kept_entry_that_is_not_above_is_not_looked_for(
    fed_log: Factory, long_chain: Factory, window_and_steps: Factory, first_kept: str | None
) -> None:
    """D3, C-32."""
    compaction = {"type": "compaction", "summary": "S", "firstKeptEntryId": first_kept, "tokensBefore": 1}
    fed = fed_log(long_chain(compaction, USER)).feed()
    window, steps = window_and_steps(fed, f"e{PATH + 2}")
    assert (window.speaking, steps <= 2) == ([PATH + 2], True)


def test_a_first_kept_entry_of_another_branch_is_looked_for_once(
    fed_log: Factory, chain: Factory, long_chain: Factory, window_and_steps: Factory
) -> None:
    """D3, C-32: resolved once."""
    side = chain(USER, first=9000, parent=None)
    compaction = {"type": "compaction", "summary": "S", "firstKeptEntryId": "e9000", "tokensBefore": 1}
    fed = fed_log([*side, *long_chain(compaction, USER)]).feed()
    window_and_steps(fed, f"e{PATH + 2}")
    window, steps = window_and_steps(fed, f"e{PATH + 2}")
    assert fed.ids(window.speaking) == [f"e{PATH + 2}"]
    assert steps <= 4


def test_settings_far_above_the_window_are_there_without_a_walk(
    fed_log: Factory, chain: Factory, window_and_steps: Factory
) -> None:
    """D3, C-10."""
    level = {"type": "thinking_level_change", "thinkingLevel": "high"}
    fed = fed_log(chain(level, *[USER] * PATH, {"type": "reset_boundary"}, USER)).feed()
    window, steps = window_and_steps(fed, f"e{PATH + 3}")
    assert (window.record.thinking_level, steps <= 2) == ("high", True)


def test_only_bodies_that_speak_are_needed(fed_log: Factory, chain: Factory) -> None:
    """D2: settings, labels and unknown types in the window stay on the disk."""
    quiet = [{"type": "label", "targetId": "e1"}, {"type": "custom", "customType": "c"}, {"type": "new"}]
    fed = fed_log(chain(USER, *quiet, USER)).feed()
    window = context_window(fed.projector.tree, fed.projector.states, 5)
    assert window.needed == [1, 5]
