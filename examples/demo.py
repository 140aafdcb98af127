"""What `make demo` runs: one session, from a file to a tree and back. Each step says what it does."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sessiontree import SessionManager

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "examples" / "sample-session.jsonl"

NOW = int(time.time() * 1000)
QUESTION = {"role": "user", "content": "One line for the changelog, please.", "timestamp": NOW}
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
# With all that pi and oh-my-pi expect of an answer, so that the session opens there too.
ANSWER = {
    "role": "assistant",
    "content": [{"type": "text", "text": "A test measured real time and failed on a busy machine; now it does not."}],
    "api": "demo",
    "provider": "demo",
    "model": "demo",
    "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": COST},
    "stopReason": "stop",
    "timestamp": NOW,
}


def step(title: str, *lines: str) -> None:
    """Print a step and what came of it. Whoever pipes the output sees it in order with the commands'."""
    print("\n".join((f"\n{title}", *(f"  {line}" for line in lines))), flush=True)


def copy_sample(directory: Path) -> Path:
    """Make the directory anew with a copy of the sample in it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return Path(shutil.copy(SAMPLE, directory / "session.jsonl"))


async def picture(session: SessionManager) -> dict[str, Any]:
    """Everything that is folded from the log."""
    return {
        "entries": await session.get_entries(),
        "children": {entry_id: session.ordered_child_ids(entry_id) for entry_id in session.entry_ids()},
        "labels": session.labels,
        "usage": session.usage,
        "context": await session.build_session_context(),
    }


async def change(path: Path) -> tuple[str, dict[str, Any]]:
    """Open, branch, append, label. Return the new leaf's id, and the session as it then stands."""
    async with await SessionManager.open(path) as session:
        tips = sum(not session.child_ids(entry_id) for entry_id in session.entry_ids())
        labels = " and ".join(f'"{label}"' for label in session.labels.values())
        step(
            "2. Open it",
            f'"{session.session_name}": {session.entry_count} entries on {tips} branches,',
            f"labels {labels}, {len(session.report.faults)} faults",
        )
        fixed = next(entry_id for entry_id, label in session.labels.items() if label == "fixed")
        left = session.leaf_id
        session.branch(fixed)
        step("3. Branch", f'the leaf moves from {left} back to {fixed} ("fixed"); nothing is written')
        asked = await session.append_message(QUESTION)
        answered = await session.append_message(ANSWER)
        step("4. Append", f"question {asked} and answer {answered}, on the disk when each call returns")
        await session.append_label_change(answered, "for the changelog")
        step("5. Label", f'{answered} is now "for the changelog"')
        before = await picture(session)
    return answered, before


async def fork(path: Path, entry_id: str) -> None:
    """Make a file of one branch."""
    async with await SessionManager.open(path) as session:
        new = Path(await session.create_branched_session(entry_id) or "")
        count = session.entry_count
    step("6. Fork", f"the path to {entry_id}, {count} entries, is now in a file of its own too:", new.name)


async def replay(path: Path, before: dict[str, Any]) -> None:
    """Read the log from the disk again and compare."""
    async with await SessionManager.open(path, read_only=True) as session:
        if await picture(session) != before:
            sys.exit("the log, read again, gives another session: please report this")
    step("7. Replay", "the file, read again, gives the same tree, labels, usage and context")


def show(directory: Path, title: str, *arguments: str) -> None:
    """Run the command as a person would, in the directory above."""
    step(title, f"$ sessiontree {' '.join(arguments)}\n")
    command = [str(Path(sys.executable).with_name("sessiontree")), *arguments]
    if status := subprocess.run(command, cwd=directory.parent, check=False).returncode:  # noqa: S603 - our own command
        sys.exit(status)


def main(directory: Path) -> None:
    """Run all steps in a directory that is made anew."""
    path = copy_sample(directory)
    name = f"{directory.name}/{path.name}"
    step("1. Copy the sample session", f"examples/{SAMPLE.name} -> {name}")
    answered, before = asyncio.run(change(path))
    asyncio.run(fork(path, answered))
    asyncio.run(replay(path, before))
    show(directory, "8. The tree: • marks the path to the leaf", "tree", name)
    show(directory, "9. The context that a model gets at the leaf", "context", name, "--format", "text")
    step(f"The files stay in {directory.name}/. More: .venv/bin/sessiontree --help")


if __name__ == "__main__":
    main(ROOT / "demo-session")
