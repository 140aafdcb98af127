"""What the contributor page asks for, as far as no other tool checks it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import sessiontree

ROOT = Path(__file__).parents[1]
FOLDERS = ("eventstore", "projections", "commands", "app")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

MOST_LINES_OF_A_MODULE = 350
MOST_LINES_OF_A_DECISION = 40


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_a_module_holds_one_concept_and_is_short() -> None:
    assert MODULES
    assert [path for path in MODULES if line_count(path) > MOST_LINES_OF_A_MODULE] == []


def test_a_decision_fits_a_screen_and_says_context_decision_and_consequences() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [path.name[:4] for path in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    for path in decisions:
        assert line_count(path) <= MOST_LINES_OF_A_DECISION, path
        headings = re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], path


@pytest.mark.parametrize("name", sessiontree.__all__)
def test_every_public_name_has_a_docstring_of_its_own(name: str) -> None:
    value = getattr(sessiontree, name)
    assert vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__


def test_the_public_names_are_sorted_and_each_stands_once() -> None:
    assert sorted(set(sessiontree.__all__)) == sessiontree.__all__


def test_the_changelog_has_a_place_for_what_changes() -> None:
    sections = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"Unreleased", sessiontree.__version__} & set(sections[:1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_to_nothing_that_is_not_there(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
