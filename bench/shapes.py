"""Sessions of extreme shapes: a straight chain, many tips, and a directory of many small sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figures
from bench.generate import START_MS, chat_lines, encode_line, iso, session_header, write_lines


def chain_lines(entries: int) -> Iterator[bytes]:
    """A straight chain of tiny messages, `n00000` to the leaf, of any depth."""
    yield _header(entries)
    for number in range(entries):
        role = "user" if number % 2 == 0 else "assistant"
        parent = f"n{number - 1:05d}" if number else None
        yield _message(f"n{number:05d}", parent, number, role, f"step {number} of the walk")


def tips_lines(shared: int, tips: int) -> Iterator[bytes]:
    """A chain of `shared` messages, `n0000` and on, under `tips` children of its last, all of one time."""
    yield _header(shared + tips)
    for number in range(shared):
        parent = f"n{number - 1:04d}" if number else None
        yield _message(f"n{number:04d}", parent, number, "user", f"walk {number}")
    for number in range(tips):
        yield _message(f"t{number:04d}", f"n{shared - 1:04d}", shared, "user", f"tip {number}")


def chain_session(directory: str, entries: int) -> Figures:
    """Write `chain_lines` to `session.jsonl` in the directory."""
    return {"bytes": write_lines(Path(directory, "session.jsonl"), chain_lines(entries))}


def tips_session(directory: str, shared: int, tips: int) -> Figures:
    """Write `tips_lines` to `session.jsonl` in the directory."""
    return {"bytes": write_lines(Path(directory, "session.jsonl"), tips_lines(shared, tips))}


def small_sessions(directory: str, count: int) -> Figures:
    """Write `count` sessions of 8 to 15 entries, each of its own seed, into the directory."""
    size = 0
    for number in range(count):
        header, *lines = chat_lines(8 + number % 8, seed=number)
        name = f"{iso(START_MS + number * 60_000).replace(':', '-').replace('.', '-')}_{number:012d}.jsonl"
        size += write_lines(Path(directory, name), [header, *lines])
    return {"bytes": size}


def _header(number: int) -> bytes:
    return encode_line(session_header(number, "/home/dev/project"))


def _message(entry_id: str, parent_id: str | None, second: int, role: str, text: str) -> bytes:
    return encode_line(
        {
            "type": "message",
            "id": entry_id,
            "parentId": parent_id,
            "timestamp": iso(START_MS + second * 1000),
            "message": {"role": role, "content": text},
        }
    )
