"""Lines that follow one another in the file are read as one piece, and cut at its newlines (design D2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.eventstore.errors import SessionRewrittenError
from sessiontree.eventstore.line_groups import LineGroup, LineRun, line_groups, line_run
from sessiontree.eventstore.line_index import LineIndex

PATH = Path("session.jsonl")
lines_of_a_file = st.lists(
    st.tuples(st.binary(min_size=1, max_size=6).map(lambda line: line.replace(b"\n", b"x")), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


def indexed(lines: list[tuple[bytes, int]]) -> tuple[LineIndex, bytes]:
    """An index of lines and their file; before each stand so many bytes that hold no entry."""
    index, content = LineIndex(), b"header\n"
    for number, (line, skipped) in enumerate(lines, start=2):
        content += b"\n" * skipped
        index.extend([len(content)], [len(line) + 1], [number])
        content += line + b"\n"
    return index, content


@given(lines_of_a_file, st.data())
def test_a_run_holds_the_lines_that_groups_hold(lines: list[tuple[bytes, int]], data: st.DataObject) -> None:
    """And there is one exactly where nothing stands between; the last line of a file may lack its newline."""
    index, content = indexed(lines)
    start = data.draw(st.integers(1, len(lines)))
    seqs = range(start, data.draw(st.integers(start, len(lines))) + 1)
    content = content[: data.draw(st.sampled_from([len(content), len(content) - 1]))]
    wanted = [lines[seq - 1][0] for seq in seqs]
    found = [line for group in line_groups(index, seqs) for _, line in group.lines(read(content, group), PATH)]
    assert found == wanted
    run = line_run(index, seqs)
    assert (run is not None) == (not any(skipped for _, skipped in lines[start : seqs.stop - 1]))
    if run is not None:
        assert run.lines(read(content, run), PATH) == wanted
        assert line_run(index, list(seqs)) is not None


def read(content: bytes, piece: LineGroup | LineRun) -> bytes:
    return content[piece.start : piece.start + piece.size]


@pytest.mark.parametrize("seqs", [[], [2, 1], [1, 3], [1, 1], [1, 3, 2, 4], [1, 1, 3]])
def test_other_orders_are_no_run(seqs: list[int]) -> None:
    index, _ = indexed([(b"line", 0)] * 4)
    assert line_run(index, seqs) is None


def test_a_run_that_is_too_large_for_one_read_is_none() -> None:
    index, _ = indexed([(b"x" * (600 << 10), 0)] * 2)
    assert line_run(index, range(1, 3)) is None
    assert line_run(index, range(1, 2)) is not None


@pytest.mark.parametrize(
    "changed",
    [
        b"xaa\nbb\n",
        b"\naaa\nb\n",
        b"\naa\nbb",
        b"\naa\nb",
        b"\naa",
        b"",
        b"\naa\nb\n\n",
        b"\n\n\n\nbb\n",
        b"\naaxbb\n",
    ],
)
def test_a_run_that_was_changed_by_another_program_is_an_error(changed: bytes) -> None:
    """D2: but for the last newline, which may be missing."""
    index, content = indexed([(b"aa", 0), (b"bb", 0)])
    run = line_run(index, range(1, 3))
    assert run is not None
    assert run.lines(read(content, run), PATH) == [b"aa", b"bb"]
    if changed == b"\naa\nbb":
        assert run.lines(changed, PATH) == [b"aa", b"bb"]
    else:
        with pytest.raises(SessionRewrittenError):
            run.lines(changed, PATH)
