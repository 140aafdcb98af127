"""The same visible work by sessiontree and by its peers, each in a version that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from bench.rows import Row, measured
from bench.samples import Call, in_turn
from bench.settings import Settings


class _Peer(NamedTuple):
    distribution: str
    module: str
    less: str


_PEERS = [
    _Peer("sessiontree", "own", ""),
    _Peer("openai-agents", "openai_agents", "a branch copies its rows, and begins at a user message only"),
    _Peer("langgraph-checkpoint-sqlite", "langgraph_checkpoint", "each step stores all messages anew"),
    _Peer("eventsourcing", "eventsourcing_sqlite", "no branches: a copy stands for one; calls keep the loop"),
]
_STEPS = {
    "append": ("append one message", "ms", 1e3),
    "load": ("open and load {:,} messages", "ms", 1e3),
    "branch": ("branch in the middle and append", "ms", 1e3),
    "list": ("list 11 branches", "ms", 1e3),
    "mb": ("size of {:,} messages", "MB", 1),
}


def run(settings: Settings) -> list[Row]:
    installed = {peer: number for peer in _PEERS if (number := _version(peer.distribution)) is not None}
    messages = settings.peer_messages
    calls = [Call(f"bench.peers.{peer.module}:work", {"messages": messages}) for peer in installed]
    done = in_turn(settings.repeat, *calls)
    rows = []
    for step, (group, unit, scale) in _STEPS.items():
        for (peer, number), samples in zip(installed.items(), done, strict=True):
            note = "; ".join(filter(None, [number, peer.less])) if step == "append" else ""
            rows.append(
                measured(peer.distribution, unit, samples.of(step, scale), note=note, group=group.format(messages))
            )
    return rows


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
