"""When a session is compacted, and how much room a summary has (K-01..K-04, K-10..K-12, K-52, N-60)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import AgentSettings, BranchSummarySettings, CompactionSettings, Model, Prompts


def test_settings_have_the_defaults_of_the_home() -> None:
    """K-01..K-04, N-60."""
    settings = AgentSettings()
    assert settings.compaction == CompactionSettings(
        enabled=True,
        strategy="context-full",
        reserve_tokens=None,
        keep_recent_tokens=20_000,
        threshold_percent=-1,
        threshold_tokens=-1,
    )
    assert settings.branch_summary == BranchSummarySettings(reserve_tokens=16_384)
    assert settings.prompts == Prompts()
    assert Model("acme", "m").context_window == 0


@pytest.mark.parametrize(
    ("window", "explicit", "threshold"),
    [
        # The reserve, or 15 % of the window where that is more.
        (100_000, None, 100_000 - 16_384),
        (200_000, None, 200_000 - 30_000),
        (100_000, 16_384, 100_000 - 16_384),
        (100_000, 20_000, 80_000),
        (100_000, 0, 85_000),
        # Only the default makes way in a small window, a reserve that was asked for does not.
        (19_000, None, 16_150),
        (19_000, 16_384, 2_616),
        (19_275, None, 16_384),
        (19_276, None, 2_892),
        (16_385, 16_384, 1),
        # Unless it takes all.
        (16_384, 16_384, 16_384 - 2_457),
        (10_000, 16_384, 8_500),
        # Tiny windows.
        (10, None, 9),
        (2, None, 1),
        (1, None, 0),
        (1, 5, 0),
    ],
)
def test_what_is_kept_free_is_the_reserve_or_a_share_of_the_window(
    window: int, explicit: int | None, threshold: int
) -> None:
    """K-11, K-12, X-125."""
    assert CompactionSettings(reserve_tokens=explicit).threshold(window) == threshold


@pytest.mark.parametrize(
    ("settings", "threshold"),
    [
        ({"threshold_tokens": 300}, 300),
        ({"threshold_tokens": 300, "threshold_percent": 50, "reserve_tokens": 10}, 300),
        ({"threshold_tokens": 5_000}, 1_000),
        ({"threshold_percent": 50, "reserve_tokens": 10}, 500),
        ({"threshold_percent": 33.3}, 333),
        ({"threshold_percent": 0.5}, 10),
        ({"threshold_percent": 100}, 990),
        ({"threshold_tokens": 0, "threshold_percent": 0, "reserve_tokens": 200}, 801),
        ({"threshold_tokens": -1, "threshold_percent": -1, "reserve_tokens": 200}, 801),
    ],
)
def test_a_threshold_of_its_own_goes_before_the_reserve(settings: dict[str, Any], threshold: int) -> None:
    """K-11, X-125: tokens, then percent, each clamped; 0 and less are none. The window is 1,001."""
    assert CompactionSettings(**settings).threshold(1_001) == threshold


@given(
    st.integers(1, 300_000),
    st.none() | st.integers(0, 400_000),
    st.sampled_from([-1, 0, 0.01, 50, 99.9, 1_000]),
    st.integers(-1, 400_000),
)
def test_a_threshold_always_lies_within_the_window(
    window: int, reserve: int | None, percent: float, tokens: int
) -> None:
    """K-11, K-12: so that a full context is always due."""
    settings = CompactionSettings(reserve_tokens=reserve, threshold_percent=percent, threshold_tokens=tokens)
    assert 0 <= settings.threshold(window) < window
    assert 0 <= settings.budget_reserve(window) <= window
    assert settings.is_due(window, window)


def test_a_context_is_due_above_its_threshold_not_at_it() -> None:
    """K-10, X-125."""
    settings = CompactionSettings(reserve_tokens=20_000)
    assert not settings.is_due(80_000, 100_000)
    assert settings.is_due(80_001, 100_000)


@pytest.mark.parametrize(
    ("settings", "window"),
    [({"enabled": False}, 1_000), ({"strategy": "off"}, 1_000), ({}, 0), ({}, -1), ({"threshold_tokens": 5}, 0)],
)
def test_nothing_is_due_when_it_is_off_or_the_window_is_unknown(settings: dict[str, Any], window: int) -> None:
    """K-01, K-04, K-11, X-125."""
    assert not CompactionSettings(**settings).is_due(1_000_000, window)


@pytest.mark.parametrize(
    ("explicit", "window", "reserve"),
    [
        (None, 0, 16_384),
        (None, 1_000_000, 16_384),
        (None, 10_000, 1_500),
        (4_000, 0, 4_000),
        (4_000, 200_000, 4_000),
        (50_000, 200_000, 50_000),
        (50_000, 40_000, 6_000),
    ],
)
def test_the_room_of_a_summary_is_the_reserve_but_no_more_than_a_tiny_window_has(
    explicit: int | None, window: int, reserve: int
) -> None:
    """K-12, K-52."""
    assert CompactionSettings(reserve_tokens=explicit).summary_reserve(window) == reserve
