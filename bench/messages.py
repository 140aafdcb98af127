"""Messages in the file's own form, as a coding agent's session holds them."""

from __future__ import annotations

from random import Random

from bench.prose import Prose

_PROVIDER = "example"
_MODELS = ("coder-large", "coder-small", "coder-fast")
_TOOLS = ("read", "bash", "edit", "grep")
_HUGE = 10_000_000  # characters

Message = dict[str, object]


class Messages:
    """Makes messages from the seed. `model`: the model that answers, as `provider/model`."""

    def __init__(self, rng: Random, result_lines: int) -> None:
        self._rng = rng
        self._result_lines = result_lines
        self._model = 0
        self._tool = _TOOLS[0]
        self.text = Prose(rng)

    @property
    def model(self) -> str:
        return f"{_PROVIDER}/{_MODELS[self._model]}"

    def next_model(self) -> str:
        self._model = (self._model + 1) % len(_MODELS)
        return self.model

    def user(self, time_ms: int) -> Message:
        content = [{"type": "text", "text": self.text.prose(2, 10)}]
        return {"role": "user", "content": content, "timestamp": time_ms}

    def assistant(self, time_ms: int, call_id: str | None) -> Message:
        """An answer: with a tool call of that id, or the last one of a turn."""
        text = self.text
        content: list[dict[str, object]] = [{"type": "thinking", "thinking": text.prose(3, 12)}]
        if call_id is None:
            content.append({"type": "text", "text": f"{text.prose(4, 20)}\n\n{text.code(2, 30)}"})
        else:
            if self._rng.random() < 0.5:
                content.append({"type": "text", "text": text.prose(1, 3)})
            self._tool = self._rng.choice(_TOOLS)
            arguments = {"path": f"src/{text.word()}/{text.word()}.py", "command": text.code(1, 12)}
            content.append({"type": "toolCall", "id": call_id, "name": self._tool, "arguments": arguments})
        return {
            "role": "assistant",
            "content": content,
            "api": "example-messages",
            "provider": _PROVIDER,
            "model": _MODELS[self._model],
            "usage": self._usage(),
            "stopReason": "stop" if call_id is None else "toolUse",
            "timestamp": time_ms,
        }

    def tool_result(self, time_ms: int, call_id: str, *, huge: bool) -> Message:
        """The answer to the last tool call; a huge one has 10 MB."""
        text = self.text.code(4, self._result_lines)
        if huge:
            text *= _HUGE // len(text) + 1
        return {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": self._tool,
            "content": [{"type": "text", "text": text}],
            "isError": self._rng.random() < 0.05,
            "timestamp": time_ms,
        }

    def _usage(self) -> dict[str, object]:
        output, cached = int(2000 * self._rng.random()), int(150_000 * self._rng.random())
        cost = {"input": 3e-05, "output": output * 1.5e-05, "cacheRead": cached * 3e-07, "cacheWrite": 0}
        return {
            "input": 10,
            "output": output,
            "cacheRead": cached,
            "cacheWrite": 0,
            "totalTokens": 10 + output + cached,
            "cost": {**cost, "total": round(sum(cost.values()), 8)},
        }
