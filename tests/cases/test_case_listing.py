"""Cases 65 and 66: the order of a list, and what may stand beside a session."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessiontree import SessionManager, SessionTreeError, list_sessions

CopyCase = Callable[[str], Path]

HEADER = '{"type":"session","version":3,"id":"odd","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/proj/demo"}\n'
MESSAGE = (
    '{"type":"message","id":"u1","parentId":null,"timestamp":"2026-01-04T10:00:01.000Z","message":{"role":"user"}}\n'
)
DIGITS = "9" * 5000
DEEP = "[" * 985 + "]" * 985
ODD_NEIGHBOURS = {
    "a working directory with NUL": HEADER.replace("/proj/demo", "/proj\\u0000") + MESSAGE,
    "a working directory with half a surrogate pair": HEADER.replace("/proj/demo", "/proj/\\ud800") + MESSAGE,
    "an id with half a surrogate pair": HEADER.replace("odd", "odd\\ud800") + MESSAGE,
    "a version of 400 digits": HEADER.replace(":3,", f":{DIGITS[:400]},") + MESSAGE,
    "a version of 5000 digits": HEADER.replace(":3,", f":{DIGITS},") + MESSAGE,
    "a time before the year 1": HEADER + MESSAGE.replace("2026-01-04T10:00:01.000Z", "0001-01-01T00:00:00+12:00"),
    "a time after the year 9999": HEADER + MESSAGE.replace("2026-01-04T10:00:01.000Z", "9999-12-31T23:59:59-12:00"),
    "a number of 5000 digits": HEADER + MESSAGE.replace('"user"', f'"user","n":{DIGITS}'),
    "a number of 5000 digits in version 1": HEADER.replace(":3,", ":1,")
    + MESSAGE.replace('"user"', f'"hookMessage","n":{DIGITS}'),
    "deep nesting": HEADER + MESSAGE.replace('"user"', f'"user","n":{DEEP}'),
    "deep nesting in version 1": HEADER.replace(":3,", ":1,") + MESSAGE.replace('"user"', f'"hookMessage","n":{DEEP}'),
    "deep nesting in a mode": HEADER
    + f'{{"type":"mode_change","id":"m1","parentId":null,"mode":"x","data":{DEEP}}}\n',
    "deep nesting in a header": HEADER.replace("3,", f'3,"n":{DEEP},') + MESSAGE,
}


async def test_a_touched_file_is_no_newer_than_its_last_message(copy_case: CopyCase) -> None:
    """F-92: one rule for the list and for `continue_recent`."""
    path = copy_case("65")
    now = time.time()
    os.utime(path.with_name("old.jsonl"), (now, now))
    os.utime(path, (now - 3600, now - 3600))
    infos = await list_sessions(path.parent)
    assert [(info.path.name, info.modified) for info in infos] == [
        ("session.jsonl", datetime(2026, 1, 5, 12, 46, 42, tzinfo=UTC)),
        ("old.jsonl", datetime(2026, 1, 5, 10, 0, 2, tzinfo=UTC)),
    ]
    async with await SessionManager.continue_recent("/proj/demo", sessions_dir=path.parent) as session:
        assert session.session_id == infos[0].id


async def test_bad_neighbours_are_marked_and_hide_no_session(copy_case: CopyCase) -> None:
    """F-92: other names and directories are not looked at, a file that vanishes is skipped."""
    path = copy_case("66")
    broken = path.with_name("broken.jsonl")
    now = time.time()
    os.utime(broken, (now + 60, now + 60))
    path.with_name("vanished.jsonl").symlink_to("nowhere.jsonl")
    good, *damaged = await list_sessions(path.parent)
    assert (good.path.name, good.fault, good.message_count) == ("session.jsonl", None, 2)
    faults = {info.path.name: info.fault for info in damaged}
    assert {"broken.jsonl", "empty.jsonl", "headerless.jsonl"} <= faults.keys()
    assert faults.keys() <= {"broken.jsonl", "empty.jsonl", "headerless.jsonl", "vanished.jsonl"}
    assert all(faults.values())
    async with await SessionManager.continue_recent("/proj/demo", sessions_dir=path.parent) as session:
        assert session.session_id == good.id


@pytest.mark.parametrize("name", ODD_NEIGHBOURS)
async def test_no_content_of_a_neighbour_breaks_a_list(name: str, copy_case: CopyCase) -> None:
    """F-92: it is listed or marked; the session beside it is listed, found and continued."""
    path = copy_case("66")
    odd = path.with_name("odd.jsonl")
    odd.write_text(ODD_NEIGHBOURS[name])
    infos = {info.path.name: info for info in await list_sessions(path.parent)}
    assert infos["session.jsonl"].fault is None
    assert "odd.jsonl" in infos
    async with await SessionManager.continue_recent("/proj/demo", sessions_dir=path.parent) as session:
        assert session.session_file is not None
    try:
        async with await SessionManager.open(odd) as session:
            await session.get_tree()
            await session.build_session_context()
    except SessionTreeError as error:
        assert str(odd) in str(error)
    assert odd.read_text() == ODD_NEIGHBOURS[name]


@pytest.mark.parametrize("kind", ["loop", "socket", "directory"])
async def test_what_is_no_file_breaks_no_list(kind: str, copy_case: CopyCase) -> None:
    path = copy_case("65")
    odd = path.with_name("odd.jsonl")
    if kind == "loop":
        odd.symlink_to(odd)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(odd))
    else:
        odd.mkdir()
    infos = await list_sessions(path.parent)
    assert [info.path.name for info in infos if info.fault is None] == ["session.jsonl", "old.jsonl"]
    with pytest.raises(SessionTreeError, match=r"odd\.jsonl"):
        await SessionManager.open(odd)


LIST = """
import asyncio, sys
from sessiontree import list_sessions

print([info.path.name for info in asyncio.run(list_sessions(sys.argv[1])) if info.fault is None])
"""


async def test_a_pipe_with_the_name_of_a_session_is_not_waited_for(copy_case: CopyCase) -> None:
    """Opening a pipe blocks until somebody writes to it: a list never does so."""
    path = copy_case("65")
    os.mkfifo(path.with_name("odd.jsonl"))
    arguments = (sys.executable, "-c", LIST, str(path.parent))
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(20):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        pytest.fail("the list waits for the pipe")
    assert output.decode().strip() == "['session.jsonl', 'old.jsonl']"
