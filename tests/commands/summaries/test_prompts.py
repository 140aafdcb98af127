"""The texts around a summary: our own unless they are replaced (K-51, K-53, N-69, N-6A)."""

from __future__ import annotations

import re

import pytest

from sessiontree import Prompts

NAMES = Prompts.__struct_fields__
BRANCH = [
    "Goal",
    "Constraints & Preferences",
    "Progress",
    "Done",
    "In Progress",
    "Blocked",
    "Key Decisions",
    "Next Steps",
]
COMPACTION = [*BRANCH, "Critical Context", "Additional Notes"]


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_ours_unless_it_is_replaced(name: str) -> None:
    own = Prompts().text(name)
    assert own
    assert own == own.strip()
    assert Prompts(**{name: " mine\n"}).text(name) == " mine\n"
    assert Prompts(**{name: ""}).text(name) == ""
    assert all(Prompts(**{name: "mine"}).text(other) == Prompts().text(other) for other in NAMES if other != name)


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("branch_summary", BRANCH),
        ("compaction", COMPACTION),
        ("compaction_update", COMPACTION),
        ("turn_prefix", ["Original Request", "Early Progress", "Context for Suffix"]),
        ("branch_preamble", []),
        ("system", []),
    ],
)
def test_a_text_asks_for_the_sections_that_the_home_asks_for(name: str, sections: list[str]) -> None:
    """N-6A, K-51, K-53: in this order."""
    assert re.findall(r"^##+ (.*)$", Prompts().text(name), re.MULTILINE) == sections


@pytest.mark.parametrize("name", ["branch_summary", "compaction", "compaction_update"])
def test_paths_names_and_errors_are_to_be_kept(name: str) -> None:
    """N-6A, K-51."""
    assert all(word in Prompts().text(name) for word in ("concise", "paths", "functions", "errors", "exactly"))


def test_the_update_names_the_block_of_the_earlier_summary() -> None:
    """K-50, K-51."""
    assert "<previous-summary>" in Prompts().text("compaction_update")
    assert "<previous-summary>" not in Prompts().text("compaction")
