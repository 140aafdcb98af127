"""Which files a conversation read and changed, and their list in a summary (N-61, N-6D, N-6E)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.commands.summaries.file_operations import MOST_FILES, FileOperations, with_files

Fields = dict[str, Any]


def call(tool: str, arguments: object) -> Fields:
    return {"type": "toolCall", "id": "t", "name": tool, "arguments": arguments}


def operations(*calls: Fields) -> FileOperations:
    made = FileOperations()
    made.add_message({"role": "assistant", "content": list(calls)})
    return made


def listed(text: str) -> list[str]:
    """The lines of the list at the end of a summary."""
    head, _, files = text.partition("\n\n<files>\n")
    assert head == "S"
    assert files.endswith("\n</files>")
    return files.removesuffix("\n</files>").split("\n")


def test_read_write_and_edit_are_told_apart_and_each_file_stands_once() -> None:
    """N-6E, N-6D, X-114: what was changed too is no longer merely read; sorted."""
    made = operations(
        call("read", {"path": "b.py"}),
        call("read", {"path": "a.py"}),
        call("read", {"path": "a.py", "limit": 5}),
        call("write", {"path": "new.py"}),
        call("edit", {"path": "b.py"}),
    )
    assert (made.read_files, made.modified_files) == (["a.py"], ["b.py", "new.py"])
    assert made.details() == {"readFiles": ["a.py"], "modifiedFiles": ["b.py", "new.py"]}


@pytest.mark.parametrize(
    "block",
    [
        call("bash", {"path": "a.py"}),
        call("read", {"file": "a.py"}),
        call("read", {"path": 5}),
        call("read", {"path": ""}),
        call("read", "a.py"),
        call("read", None),
        {**call("read", {"path": "a.py"}), "type": "text"},
        call("read", {"path": "https://example.org/a.py"}),
        call("write", {"path": "memory://a"}),
        call("edit", {"path": "Skill+x-1.0://a.py:50"}),
    ],
)
def test_other_tools_odd_arguments_and_urls_name_no_file(block: Fields) -> None:
    """N-6E, X-114."""
    assert operations(block) == FileOperations()


@pytest.mark.parametrize("role", ["user", "toolResult", "custom"])
def test_only_an_assistant_calls_tools(role: str) -> None:
    """N-6E."""
    made = FileOperations()
    made.add_message({"role": role, "content": [call("read", {"path": "a.py"})]})
    assert made == FileOperations()


@pytest.mark.parametrize(
    ("selected", "path"),
    [
        ("a.py:50", "a.py"),
        ("a.py:50-", "a.py"),
        ("a.py:50-200", "a.py"),
        ("a.py:5-16,960-973", "a.py"),
        ("a.py:5,7,9-10", "a.py"),
        ("a.py:raw", "a.py"),
        ("a.py:conflicts", "a.py"),
        ("a.py:50-60:raw", "a.py"),
        ("a.py:raw:5-16,20", "a.py"),
        ("x.zip:dir/a.py:50", "x.zip:dir/a.py"),
        # Other colons belong to the path.
        ("x.zip:dir/a.py", "x.zip:dir/a.py"),
        ("C:/a.py", "C:/a.py"),
        ("a.py:50x", "a.py:50x"),
        ("a.py:raws", "a.py:raws"),
        ("a.py:5-16,", "a.py:5-16,"),
        ("a.py:", "a.py:"),
        ("a:50/b.py", "a:50/b.py"),
        # Nothing would be left.
        (":50", ":50"),
    ],
)
def test_a_read_path_loses_the_lines_that_were_asked_for(selected: str, path: str) -> None:
    """N-6E, X-114: a written one is as it is."""
    assert operations(call("read", {"path": selected})).read == {path}
    assert operations(call("edit", {"path": selected}), call("write", {"path": selected})).changed == {selected}


def test_the_details_of_an_earlier_summary_are_taken_in() -> None:
    """N-61, X-114: lists of paths only, and no URLs that older programs stored."""
    made = FileOperations({"read.py"}, {"changed.py"})
    made.add_details({"readFiles": ["a.py", 5, None, "https://x/y"], "modifiedFiles": ["b.py", "local://z"]})
    assert made == FileOperations({"read.py", "a.py"}, {"changed.py", "b.py"})


@pytest.mark.parametrize("details", [None, "a.py", ["a.py"], {}, {"readFiles": "a.py"}, {"modifiedFiles": {"a": 1}}])
def test_details_of_the_wrong_kind_add_nothing(details: object) -> None:
    """N-61."""
    made = FileOperations()
    made.add_details(details)
    assert made == FileOperations()


def test_an_empty_path_in_details_is_none() -> None:
    """N-6D, N-61: a list of files has no row without a name."""
    made = FileOperations()
    made.add_details({"readFiles": [""]})
    assert with_files("S", made) == "S"


def test_files_are_grouped_by_directory_with_what_was_done_to_them() -> None:
    """N-6D, X-114: one list for all, in order."""
    made = FileOperations({"top.py", "src/b.py", "src/both.py", "/abs.py", "/etc/x"}, {"src/both.py", "src/a/new.py"})
    assert listed(with_files("S", made)) == [
        "top.py (Read)",
        "/",
        "  abs.py (Read)",
        "/etc/",
        "  x (Read)",
        "src/",
        "  b.py (Read)",
        "  both.py (RW)",
        "src/a/",
        "  new.py (Write)",
    ]


@pytest.mark.parametrize("path", ["src//a.py", "//a.py", "src/deep///a.py"])
def test_a_changed_file_is_marked_so_however_its_path_is_spelled(path: str) -> None:
    """N-6D."""
    assert "a.py (Write)" in with_files("S", FileOperations(changed={path}))


def test_at_most_twenty_files_are_listed_and_the_rest_counted() -> None:
    """N-6D, X-114."""
    paths = [f"f{number:02}" for number in range(MOST_FILES + 2)]
    assert MOST_FILES == 20
    assert listed(with_files("S", FileOperations(set(paths[:20])))) == [f"{path} (Read)" for path in paths[:20]]
    lines = listed(with_files("S", FileOperations(set(paths[::2]), set(paths[1::2]))))
    assert (len(lines), lines[-1]) == (21, "… and 2 more")


@pytest.mark.parametrize("tag", ["files", "read-files", "modified-files"])
def test_lists_that_a_summary_has_already_make_way(tag: str) -> None:
    """N-6D: of all three kinds, wherever they stand; and without files there is none."""
    text = f"one\n\n<{tag}>\na.py (Read)\nb.py\n</{tag}>\n\ntwo\n<{tag}>\nc.py\n</{tag}>\n"
    assert with_files(text, FileOperations()) == "one\n\ntwo"
    assert with_files(text, FileOperations({"x"})) == "one\n\ntwo\n\n<files>\nx (Read)\n</files>"


@pytest.mark.parametrize("text", ["<files>", "say <files> and </files>", "<files>\nopen", "<other>\na\n</other>"])
def test_text_that_is_no_list_stays(text: str) -> None:
    """N-6D: a summary loses nothing else."""
    assert with_files(text, FileOperations()) == text


PATHS = st.sets(st.text("ab/.é ", min_size=1, max_size=6), max_size=25)
TEXTS = st.lists(
    st.sampled_from(["a", " ", "\n", "<b>", "<files>\na (Read)\n</files>", "<read-files>\nb\n</read-files>"]),
    max_size=6,
)


@given(TEXTS.map("".join), PATHS, PATHS)
def test_a_summary_gets_its_list_once_however_often_it_is_added(text: str, read: set[str], changed: set[str]) -> None:
    """N-6D: summaries are made from summaries."""
    made = FileOperations(read, changed)
    once = with_files(text, made)
    assert with_files(once, made) == once
    assert once.count("<files>") == once.count("</files>") == (1 if read or changed else 0)
    assert with_files(once, FileOperations()) == with_files(text, FileOperations())
