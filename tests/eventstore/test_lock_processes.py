"""One writer for a file among processes."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import SessionLockedError
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]
StartProcess = Callable[..., Awaitable[Process]]

OPEN = """
import asyncio, json, os, sys
from pathlib import Path
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

async def open_store(timeout=0):
    return await JsonlEventStore.open(
        Path(sys.argv[1]), header_of_new=lambda: make_header("", "", ""), durable=False, lock_timeout=timeout)

def line(name, size=10):
    return json.dumps({"type": "message", "id": name, "parentId": None,
                       "message": {"role": "user", "content": "x" * size}}).encode()
"""


@pytest.fixture
async def start_process() -> AsyncIterator[StartProcess]:
    """Runs Python code in a process of its own, with `OPEN` before it; ended with the test."""
    processes: list[Process] = []

    async def start(code: str, *arguments: object) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN + code, *map(str, arguments), stdin=PIPE, stdout=PIPE
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def said(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def test_the_lock_dies_with_its_owner(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll, start_process: StartProcess
) -> None:
    """D5: a killed process leaves nothing to clean up."""
    path = session_file()
    code = """
async def main():
    store = await open_store()
    await store.append([line("child")])
    print("locked", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""
    process = await start_process(code, path)
    assert await said(process) == "locked"
    store = await open_store(path)
    with pytest.raises(SessionLockedError) as caught:
        await store.append([entry_line("a")])
    assert caught.value.pid in (process.pid, None)
    process.kill()
    await process.wait()
    await store.append([entry_line("a")])
    assert [envelope.id for envelope in await read_all(store)] == ["child", "a"]


async def test_a_forked_child_cannot_unlock(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, start_process: StartProcess
) -> None:
    """D4: it closes its copies of the descriptors, and so its end releases nothing."""
    path = session_file()
    code = """
import warnings
from sessiontree.eventstore import writer

async def main():
    store = await open_store()
    await store.append([line("parent")])
    warnings.simplefilter("ignore")
    child = os.fork()
    if not child:
        held = [w.fd for w in writer._writers if w.fd >= 0]
        os._exit(0 if not held else 1)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.stdin.readline()
    await store.append([line("parent 2")])
    await store.close()
    print("closed", flush=True)

asyncio.run(main())
"""
    process = await start_process(code, path)
    assert await said(process) == "child 0"
    with pytest.raises(SessionLockedError):
        await (await open_store(path)).append([entry_line("a")])
    assert process.stdin is not None
    process.stdin.write(b"\n")
    assert await said(process) == "closed"
    store = await open_store(path)
    batch = await store.append([entry_line("a")])
    assert batch.first_seq == 3


async def test_two_processes_that_take_turns_lose_nothing(
    session_file: SessionFile, open_store: OpenStore, read_all: ReadAll, start_process: StartProcess
) -> None:
    """D4, D5: each opens, appends and closes 50 times, 200 KB at a time."""
    path = session_file()
    code = """
async def main():
    for number in range(50):
        store = await open_store(60)
        await store.append([line(f"{sys.argv[2]}{number}", 200_000)])
        await store.close()
asyncio.run(main())
"""
    processes = [await start_process(code, path, name) for name in "xy"]
    assert [await process.wait() for process in processes] == [0, 0]
    store = await open_store(path)
    ids = [envelope.id for envelope in await read_all(store)]
    assert (len(ids), store.faults) == (100, [])
    for name in "xy":
        assert [entry_id for entry_id in ids if entry_id[0] == name] == [f"{name}{number}" for number in range(50)]
    lines = await store.read_lines(range(1, 101))
    assert {len(line) > 200_000 for line in lines} == {True}
