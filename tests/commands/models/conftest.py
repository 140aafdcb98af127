"""A model behind HTTP: a small server that speaks as OpenAI's and Anthropic's do, and the official clients for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import anthropic
import openai
import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    AnthropicSummarizer,
    CompactionSettings,
    OpenAISummarizer,
    SessionManager,
)

Part = bytes | None
"""What a server sends at once; None: it waits here until the test lets it go on, or the client has gone."""


def head(status: int, **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Some", *lines, "", ""]).encode()


def chunk(text: str) -> bytes:
    data = text.encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


class Request:
    """What a client asked. `closed`: set once it has closed the connection; `go_on`: lets its reply go on."""

    def __init__(self, path: str, headers: Mapping[str, str], body: Any, closed: asyncio.Event) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.closed = closed
        self.go_on = asyncio.Event()

    async def is_closed(self) -> None:
        """Return when it is."""
        async with asyncio.timeout(20):
            await self.closed.wait()


class ModelServer:
    """Answers each request with the next of the replies it was given, part for part."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.clients: list[Any] = []
        self._replies: list[Sequence[Part]] = []
        self._held: asyncio.Queue[Request] = asyncio.Queue()
        self._connections: set[asyncio.Task[None]] = set()

    def reply(self, *parts: Part) -> None:
        """Answer one more request with these parts; a reply without an end is followed by closing."""
        self._replies.append(parts)

    async def held(self) -> Request:
        """Return the next request whose reply has come to a place where it waits."""
        async with asyncio.timeout(20):
            return await self._held.get()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Close the clients, and return when the server has seen that."""
        await asyncio.gather(*(client.close() for client in self.clients))
        self._server.close()
        await self._server.wait_closed()
        await asyncio.gather(*self._connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        closed = asyncio.Event()
        try:
            while await self._answer(reader, writer, closed):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            closed.set()
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, closed: asyncio.Event) -> bool:
        """Answer one request; tell whether another may follow."""
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): text for name, text in (line.split(": ", 1) for line in lines)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        request = Request(first.split(" ")[1], headers, body, closed)
        self.requests.append(request)
        reply = self._replies.pop(0)
        for part in reply:
            if part is None:
                await self._hold(request, reader)
            else:
                writer.write(part)
                await writer.drain()
        return bool(reply) and reply[-1] == END

    async def _hold(self, request: Request, reader: asyncio.StreamReader) -> None:
        """Wait to go on. Raises `ConnectionError` when the client goes."""
        self._held.put_nowait(request)
        waits = [asyncio.ensure_future(awaited) for awaited in (request.go_on.wait(), reader.read(1))]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        gone = waits[1].done()
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)
        if gone:
            raise ConnectionAbortedError


END: Final = b"0\r\n\r\n"
"""The end of a body in chunks."""
STREAM: Final = head(200, content_type="text/event-stream", transfer_encoding="chunked")


class Form:
    """How one provider speaks. `stop`, `cut`, `withheld`: the reasons that it gives for the end of an answer."""

    path: str
    stop: str
    cut: str
    withheld: str

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.headers_came = asyncio.Event()
        """Set once a client has the headers of an answer."""

    def summarizer(self, **options: Any) -> Any:
        """A summarizer with a client of its own; `options` as of the client, by default without retries."""
        raise NotImplementedError

    def http_client(self, factory: Callable[..., Any], **options: Any) -> Any:
        async def on_response(_: object) -> None:
            self.headers_came.set()

        # No proxy of the environment, and no certificates to load.
        return factory(trust_env=False, verify=False, event_hooks={"response": [on_response]}, **options)

    def begun(self, *texts: str) -> list[Part]:
        """A stream that has begun with these texts."""
        raise NotImplementedError

    def ended(self, reason: str, usage: Mapping[str, Any] | None = None) -> list[Part]:
        """How such a stream ends."""
        raise NotImplementedError

    def whole(self, *texts: str, reason: str | None = None) -> list[Part]:
        """An answer from beginning to end."""
        return [*self.begun(*texts), *self.ended(reason or self.stop)]

    @staticmethod
    def error(status: int, message: str, **headers: str) -> list[Part]:
        """A refusal, in the form that both providers know."""
        body = json.dumps({"type": "error", "error": {"type": "some_error", "message": message}})
        framed = head(status, content_type="application/json", transfer_encoding="chunked", **headers)
        return [framed, chunk(body), END]


class OpenAIForm(Form):
    path = "/v1/chat/completions"
    stop, cut, withheld = "stop", "length", "content_filter"

    def summarizer(self, *, proxy: str | None = None, **options: Any) -> OpenAISummarizer:
        http_client = self.http_client(openai.DefaultAsyncHttpxClient, proxy=proxy)
        settings = {"base_url": f"{self.server.url}/v1", "api_key": "sk-test", "max_retries": 0, **options}
        self.server.clients.append(openai.AsyncOpenAI(http_client=http_client, **settings))
        return OpenAISummarizer(self.server.clients[-1], "a-model")

    def event(self, *choices: Mapping[str, Any], **fields: Any) -> bytes:
        data = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **fields}
        return chunk(f"data: {json.dumps(data)}\n\n")

    def begun(self, *texts: str) -> list[Part]:
        deltas = [{"role": "assistant", "content": None}, *({"content": text} for text in texts)]
        return [STREAM, *(self.event({"index": 0, "delta": delta, "finish_reason": None}) for delta in deltas)]

    def ended(self, reason: str, usage: Mapping[str, Any] | None = None) -> list[Part]:
        told = [self.event(usage=usage)] if usage else []
        return [self.event({"index": 0, "delta": {}, "finish_reason": reason}), *told, chunk("data: [DONE]\n\n"), END]


class AnthropicForm(Form):
    path = "/v1/messages"
    stop, cut, withheld = "end_turn", "max_tokens", "refusal"

    def summarizer(self, **options: Any) -> AnthropicSummarizer:
        http_client = self.http_client(anthropic.DefaultAsyncHttpxClient)
        settings = {"base_url": self.server.url, "api_key": "sk-test", "max_retries": 0, **options}
        self.server.clients.append(anthropic.AsyncAnthropic(http_client=http_client, **settings))
        return AnthropicSummarizer(self.server.clients[-1], "a-model")

    def event(self, kind: str, **fields: Any) -> bytes:
        return chunk(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

    def started(self, **usage: int | None) -> list[Part]:
        message = {"id": "m", "type": "message", "role": "assistant", "model": "a-model", "content": []}
        counted = {"input_tokens": 10, "output_tokens": 1, **usage}
        return [STREAM, self.event("message_start", message={**message, "stop_reason": None, "usage": counted})]

    def block(self, index: int, kind: str, *texts: str) -> list[Part]:
        """One block of the content, of kind `text` or `thinking`."""
        deltas = ({"type": f"{kind}_delta", kind: text} for text in texts)
        return [
            self.event("content_block_start", index=index, content_block={"type": kind, kind: "", "signature": ""}),
            *(self.event("content_block_delta", index=index, delta=delta) for delta in deltas),
            self.event("content_block_stop", index=index),
        ]

    def begun(self, *texts: str) -> list[Part]:
        return [*self.started(), *self.block(0, "text", *texts)]

    def ended(self, reason: str, usage: Mapping[str, Any] | None = None) -> list[Part]:
        fields = {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage or {"output_tokens": 1}}
        return [self.event("message_delta", **fields), self.event("message_stop"), END]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A server that runs; after the test every connection and every task comes to its end."""
    server = ModelServer()
    await server.start()
    yield server
    async with asyncio.timeout(20):
        await server.stop()
        # The clients leave some of their generators to the garbage collector, which closes them in tasks.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)


@pytest.fixture
def openai_form(server: ModelServer) -> OpenAIForm:
    return OpenAIForm(server)


@pytest.fixture
def anthropic_form(server: ModelServer) -> AnthropicForm:
    return AnthropicForm(server)


@pytest.fixture(params=[OpenAIForm, AnthropicForm], ids=["openai", "anthropic"])
def form(request: pytest.FixtureRequest, server: ModelServer) -> Any:
    """One provider, then the other: what holds for one holds for both."""
    return request.param(server)


@pytest.fixture(params=["navigate", "compact"])
def flow(request: pytest.FixtureRequest) -> Callable[[AgentSession], Awaitable[Any]]:
    """One of the two flows that ask a model once, for a session as `agent_for` makes them."""
    if request.param == "compact":
        return AgentSession.compact
    return lambda agent: agent.navigate_tree("b", summarize=True)


@pytest.fixture
def agent_for(make_file: Callable[..., Awaitable[SessionManager]]) -> Callable[..., Awaitable[AgentSession]]:
    """Makes an agent session on a file: `a` asks, `b` answers, `c` asks again; and who sums up."""

    async def agent_for(summarizer: Any, **settings: Any) -> AgentSession:
        session = await make_file()
        for name, role in (("a", "user"), ("b", "assistant"), ("c", "user")):
            content = [{"type": "text", "text": f"text of {name}"}]
            await session.append_message({"role": role, "content": content}, entry_id=name)
        agent_settings = AgentSettings(CompactionSettings(keep_recent_tokens=1), **settings)
        return AgentSession(session, summarizer=summarizer, settings=agent_settings)

    return agent_for


@pytest.fixture
def unchanged() -> Callable[[AgentSession], AbstractContextManager[None]]:
    """Checks that nothing is written and the leaf stays, whatever happens inside."""

    @contextmanager
    def unchanged(agent: AgentSession) -> Iterator[None]:
        session = agent.session
        path = Path(str(session.session_file))
        before = path.read_bytes(), session.entry_count, session.leaf_id
        yield
        assert (path.read_bytes(), session.entry_count, session.leaf_id) == before

    return unchanged
