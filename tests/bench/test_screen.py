"""What a program paints is cut into whole frames, and put on a screen where it says."""

from __future__ import annotations

import pytest

from bench.measure.screen import FRAME_END, FRAME_START, Frames, Screen

PAINTED = f"\x1b[?1049h\x1b[?2026$p{FRAME_START}\x1b[1;1H› é日本{FRAME_END}\x1b[?25l{FRAME_START}\x1b[2;3Hb{FRAME_END}"
PIECES = [
    "\x1b[?1049h\x1b[?2026$p",
    f"{FRAME_START}\x1b[1;1H› é日本{FRAME_END}",
    "\x1b[?25l",
    f"{FRAME_START}\x1b[2;3Hb{FRAME_END}",
]


@pytest.fixture
def screen() -> Screen:
    return Screen(lines=3, columns=10)


def test_frames_are_cut_out_of_what_is_written_at_once() -> None:
    assert list(Frames().feed(PAINTED.encode())) == PIECES


def test_a_frame_is_whole_with_its_last_byte_wherever_it_was_divided() -> None:
    data = PAINTED.encode()
    for at in range(len(data)):
        frames = Frames()
        pieces = [*frames.feed(data[:at]), *frames.feed(data[at:])]
        assert "".join(pieces) == PAINTED
        assert [piece for piece in pieces if FRAME_END in piece] == PIECES[1::2]


def test_a_frame_that_has_not_ended_is_held_back() -> None:
    frames = Frames()
    assert list(frames.feed(f"{FRAME_START}\x1b[1;1Habc".encode())) == []
    assert list(frames.feed(FRAME_END.encode())) == [f"{FRAME_START}\x1b[1;1Habc{FRAME_END}"]


def test_a_sequence_outside_of_frames_is_never_divided() -> None:
    frames = Frames()
    assert list(frames.feed(b"abc\x1b[?20")) == ["abc"]
    assert list(frames.feed(b"26$p")) == ["\x1b[?2026$p"]


def test_text_stands_where_it_was_placed_whatever_its_colours(screen: Screen) -> None:
    screen.paint("\x1b[2;3H\x1b[1;38;2;1;2;3mab\x1b[0mc\x1b[3;1H(1/2)")
    assert screen.lines == ["", "  abc", "(1/2)"]
    assert screen.foot == "(1/2)"


def test_wide_characters_take_two_cells_and_marks_none(screen: Screen) -> None:
    screen.paint("\x1b[1;1H日e\u0301\x1b[0m本x\x1b[1;7Hy")
    assert screen.lines[0] == "日e本xy"


def test_a_line_break_begins_the_next_line(screen: Screen) -> None:
    screen.paint("Error:\r\nno terminal")
    assert screen.lines == ["Error:", "no termina", ""]


def test_what_lies_outside_of_the_screen_is_not_shown(screen: Screen) -> None:
    screen.paint("\x1b[9;1Habc\x1b[1;9Habcd\x1b[2;10H日")
    assert screen.lines == ["        ab", "", ""]
