"""`sessiontree navigate`, `branch` and `compact` as processes, and the models they ask: a server in this process."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from types import ModuleType
from typing import Any, NamedTuple

import pytest

Start = Callable[..., "subprocess.Popen[bytes]"]
Run = Callable[..., Any]
Refuse = Callable[..., str]
Case = Callable[[str], Path]
Env = dict[str, str]

SUMMARIZING = {"navigate": ["u2", "--summarize"], "compact": ["--keep", "1"]}
STORING = {**SUMMARIZING, "branch": ["u2"]}
KEY, TEXT, ERASE = "sk-test", "It went well.\x1b[31m", "\r\x1b[K"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
REFUSAL = b'HTTP/1.1 401 \r\ncontent-type: application/json\r\n\r\n{"error": {"message": "no such key\\u001b[m\\n"}}'


def events(*records: dict[str, Any]) -> bytes:
    return "".join(f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in records).encode()


class Provider(NamedTuple):
    """An answer that has begun, and how it ends."""

    name: str
    path: str
    begun: bytes
    ended: bytes


SAID = {"choices": [{"index": 0, "delta": {"content": TEXT}}]}
ALL_SAID = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}
OPENAI = Provider("openai", "/v1/chat/completions", HEAD + events(SAID), events(ALL_SAID, USAGE))
START = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 12, "output_tokens": 1}}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}
LAST = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
END = {"type": "message_stop"}
ANTHROPIC = Provider("anthropic", "/v1/messages", HEAD + events(START, BLOCK, DELTA), events(LAST, END))
both = pytest.mark.parametrize("provider", [OPENAI, ANTHROPIC], ids=lambda provider: provider.name)
summarizing = pytest.mark.parametrize("command", SUMMARIZING)
storing = pytest.mark.parametrize("command", STORING)


class ModelServer(ThreadingHTTPServer):
    """Answers with `reply` once `go_on` is set; without one it waits until the client has gone."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = b""
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.asked, self.closed, self.go_on = Event(), Event(), Event()
        self.go_on.set()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        self.server.asked.set()
        if self.server.reply:
            assert self.server.go_on.wait(20)
            self.wfile.write(self.server.reply)
        elif self.rfile.read(1) == b"":
            self.server.closed.set()


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a provider with the keys, or by the proxy, of the person who runs it."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that the clients find by their environment variables."""
    with ModelServer() as server:
        url = f"http://127.0.0.1:{server.server_port}"
        for provider, address in (("OPENAI", f"{url}/v1"), ("ANTHROPIC", url)):
            monkeypatch.setenv(f"{provider}_BASE_URL", address)
            monkeypatch.setenv(f"{provider}_API_KEY", KEY)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def shown(controller: int, until: str) -> str:
    """What a terminal shows, up to and with a text that has to come."""
    text = b""
    while until.encode() not in text:
        text += os.read(controller, 65536)
    return text.decode()


def last(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    return record


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out or b"", err or b""


@both
@summarizing
def test_a_model_writes_the_summary(
    start: Start, server: ModelServer, talk: Path, provider: Provider, command: str
) -> None:
    """N-12, N-6A, K-51, K-65, T-95: asked once, as the client's own variables say; its usage is stored."""
    server.reply = provider.begun + provider.ended
    who = ["--summarizer", f"{provider.name}:some:model", "--instructions", "mind the tests"]
    status, out, err = ended(start(command, talk, *SUMMARIZING[command], *who))
    assert (status, err, b"\x1b" in out) == (0, b"", False)
    [(path, headers, body)] = server.requests
    assert (path, body["model"], KEY in str(headers)) == (provider.path, "some:model", True)
    assert body["messages"][-1]["content"].endswith("mind the tests")
    record = last(talk)
    assert record["summary"].endswith(TEXT)
    assert record["details"]["usage"] == {"input": 12, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15}


FAILURES: dict[str, tuple[Callable[[Provider], bytes], bytes]] = {
    "refused": (lambda provider: REFUSAL, b"no such key"),
    "cut": (lambda provider: provider.begun, b"the stream ended in the middle of the answer"),
    "broken off": (
        lambda provider: provider.begun.replace(b"\r\n\r\n", b"\r\ncontent-length: 9999\r\n\r\n"),
        b"onnection",
    ),
}


@both
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_answer_is_one_line_and_nothing_is_stored(
    start: Start, server: ModelServer, talk: Path, provider: Provider, failure: str
) -> None:
    """N-13, N-6B, K-55."""
    before, (reply, reason) = talk.read_bytes(), FAILURES[failure]
    server.reply = reply(provider)
    process = start("navigate", talk, "u2", "--summarize", "--label", "x", "--summarizer", f"{provider.name}:m")
    status, out, err = ended(process)
    assert (status, out, talk.read_bytes()) == (2, b"", before)
    assert err.startswith(b"sessiontree: summarization failed: ")
    assert (reason in err, KEY.encode() in err, err.decode().removesuffix("\n").isprintable()) == (True, False, True)


@both
@summarizing
def test_an_interrupt_while_a_summary_is_written_leaves_the_file(
    start: Start, server: ModelServer, talk: Path, provider: Provider, command: str
) -> None:
    """N-39, K-66, X-102: status 130, nothing printed, the connection closed, and not asked again."""
    before = talk.read_bytes()
    process = start(command, talk, *SUMMARIZING[command], "--summarizer", f"{provider.name}:m")
    assert server.asked.wait(60)
    process.send_signal(signal.SIGINT)
    status, out, err = ended(process)
    assert (status, out, err.strip(), talk.read_bytes()) == (130, b"", b"", before)
    assert (server.closed.wait(60), len(server.requests)) == (True, 1)


def test_an_interrupt_itself_closes_the_connection(run: Run, server: ModelServer, talk: Path) -> None:
    """Not only the end of the process: the same in this one, which lives on."""

    def interrupt() -> None:
        assert server.asked.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt).start()
    interrupted = run("compact", talk, "--keep", "1", "--summarizer", "openai:m")
    assert (interrupted.status, interrupted.out, server.closed.wait(60)) == (130, "", True)


@summarizing
@pytest.mark.parametrize("interrupted", [False, True])
def test_progress_is_shown_while_a_summary_is_written(
    start: Start, server: ModelServer, talk: Path, command: str, interrupted: bool
) -> None:
    """One line on the terminal, gone when the result is printed, or when it was interrupted."""
    server.reply = b"" if interrupted else OPENAI.begun + OPENAI.ended
    server.go_on.clear()
    controller, terminal = pty.openpty()
    process = start(command, talk, *SUMMARIZING[command], "--summarizer", "openai:m", stderr=terminal)
    text = shown(controller, "writing the summary … ")
    process.send_signal(signal.SIGINT) if interrupted else server.go_on.set()
    status, out, _ = ended(process)
    os.write(terminal, b"END")
    text += shown(controller, "END")
    os.close(controller)
    os.close(terminal)
    *drawn, rest = text.split(ERASE)
    assert (status, bool(out), rest.split()) == (130 if interrupted else 0, not interrupted, ["END"])
    assert (all(map(str.isprintable, drawn)), ERASE.encode() in out) == (True, False)


@pytest.mark.parametrize(
    ("provider", "says", "variables"),
    [
        ("openai", "OPENAI_API_KEY", {}),
        ("anthropic", "ANTHROPIC_API_KEY", {}),
        ("openai", "openai: Invalid port", {"OPENAI_BASE_URL": "http://[::", "OPENAI_API_KEY": KEY}),
        ("anthropic", "anthropic: Invalid port", {"ANTHROPIC_BASE_URL": "http://[::", "ANTHROPIC_API_KEY": KEY}),
        ("openai", "openai: Unknown scheme for proxy", {"HTTP_PROXY": "no://x", "OPENAI_API_KEY": KEY}),
    ],
)
def test_an_unusable_client_is_one_line(start: Start, talk: Path, provider: str, says: str, variables: Env) -> None:
    """N-12, K-61: no key, a mistyped address or proxy."""
    before = talk.read_bytes()
    arguments = ["compact", talk, "--keep", "1", "--summarizer", f"{provider}:m"]
    status, out, err = ended(start(*arguments, env={**os.environ, **variables}))
    assert (status, out, err.count(b"\n"), talk.read_bytes()) == (2, b"", 1, before)
    assert says.encode() in err


ABSENT = "the package {0} is not installed: pip install 'sessiontree[{0}]'"


@both
@pytest.mark.parametrize(("module", "says"), [(None, ABSENT), (ModuleType("other"), "{0}: module 'other' has no")])
def test_a_client_that_is_not_installed_is_named(
    refuse: Refuse, talk: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider, module: object, says: str
) -> None:
    """N-04, K-61; nor is another package of that name one."""
    monkeypatch.setitem(sys.modules, provider.name, module)
    line = refuse("compact", talk, "--summarizer", f"{provider.name}:m")
    assert line.startswith(says.format(provider.name))


@both
def test_a_newer_version_asks_no_model(refuse: Refuse, server: ModelServer, case: Case, provider: Provider) -> None:
    """F-100, case 78."""
    server.reply = provider.begun + provider.ended
    path, who = case("78"), f"--summarizer={provider.name}:m"
    assert "is version 4" in refuse("navigate", path, "u1", "--summarize", who)
    assert "is version 4" in refuse("compact", path, "--keep", "1", who)
    assert server.requests == []


def test_no_model_is_asked_where_nothing_was_said(run: Run, server: ModelServer, write: Callable[..., Path]) -> None:
    """N-15, N-66: only settings are left; nothing is stored, or with a label the label of the target."""
    server.reply = OPENAI.begun + OPENAI.ended
    said = {"id": "a1", "message": {"role": "assistant", "content": []}}
    path = write(said, {"id": "t1", "type": "thinking_level_change", "thinkingLevel": "high"})
    arguments = ["navigate", path, "a1", "--summarize", "--summarizer", "openai:m"]
    done = run(*arguments)
    assert (done.status, done.lines, last(path)["id"], server.requests) == (0, ["leaf: a1"], "t1", [])
    assert done.err == "Nothing was stored: nobody said anything on the branch that is left.\n"
    assert (run(*arguments, "--label", "x").status, last(path)["targetId"], server.requests) == (0, "a1", [])


@storing
@pytest.mark.parametrize("is_open", [True, False], ids=["broken pipe", "closed"])
def test_without_a_reader_it_is_stored_all_the_same(start: Start, talk: Path, command: str, is_open: bool) -> None:
    size = sum(path.stat().st_size for path in talk.parent.glob("*.jsonl"))
    reader, writer = os.pipe()
    os.close(reader)
    closing = {} if is_open else {"preexec_fn": lambda: os.close(1)}
    status, _, err = ended(start(command, talk, *STORING[command], stdout=writer, **closing))
    os.close(writer)
    assert (status, err) == (141 if is_open else 0, b"")
    assert sum(path.stat().st_size for path in talk.parent.glob("*.jsonl")) > size


@storing
def test_what_was_stored_is_not_called_refused(start: Start, talk: Path, command: str) -> None:
    """The line says that it was written; status 1, for 2 means that nothing was."""
    with open("/dev/full", "wb") as full:
        status, _, err = ended(start(command, talk, *STORING[command], stdout=full))
    assert (status, b"was written, but it could not be printed" in err) == (1, True)
