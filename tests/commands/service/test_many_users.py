"""Many users of the same few sessions, time and again: one live session for each file, and nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sessiontree import EntriesAppended, SessionClosed, SessionOpened, SessionService

Store = Callable[..., Awaitable[Path]]


@pytest.mark.parametrize("seed", range(3))
async def test_many_users_share_the_sessions_and_lose_nothing(
    service: SessionService,
    store: Store,
    pass_time: Callable[..., Awaitable[None]],
    descriptors: Callable[[], list[str]],
    heard: Any,
    seed: int,
) -> None:
    """D4, D5: each file is one chain of all appends, opened and closed in turn, and told as it stands."""
    random, wanted = Random(seed), Counter[Path]()
    paths = [await store() for _ in range(5)]

    async def use(path: Path, name: str) -> None:
        for _ in range(random.randrange(3)):
            await asyncio.sleep(0)
        session = await service.open(name)
        for _ in range(random.randrange(1, 4)):
            await session.append_message({"role": "user", "content": name})
            wanted[path] += 1

    for _ in range(5):
        users = random.choices(paths, k=30)
        await asyncio.gather(*(use(path, random.choice([str(path), path.stem.partition("_")[2]])) for path in users))
        await pass_time()
    await service.close()
    told = await heard.rest()
    assert descriptors() == []
    for path in paths:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        ids = [line["id"] for line in lines]
        assert [line["parentId"] for line in lines] == [None, *ids[:-1]]
        assert len(set(ids)) == len(ids) == wanted[path] + 1
        of_it = [event for event in told if event.session_file == str(path)]
        assert [i for event in of_it if isinstance(event, EntriesAppended) for i in event.entry_ids] == ids[1:]
        turns = [type(event) for event in of_it if not isinstance(event, EntriesAppended)]
        assert turns == [SessionOpened, SessionClosed] * (len(turns) // 2)
        assert len(turns) > 2
