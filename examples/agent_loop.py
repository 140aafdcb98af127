"""An agent runtime on a session: a loop with a tool, steering by navigation, compaction, an abort on Ctrl-C.

A real model takes the place of the scripted one, and `OpenAISummarizer(client, model)` that of the digest.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    AgentSession,
    AgentSettings,
    CompactionSettings,
    DigestSummarizer,
    Hooks,
    Model,
    SessionService,
)

Message = dict[str, Any]
MODEL = Model("scripted", "demo", context_window=3_500)


class ScriptedModel:
    """Reads a file whenever it is asked something, and then answers."""

    async def answer(self, messages: list[Message]) -> Message:
        await asyncio.sleep(0.01)
        if messages[-1]["role"] == "toolResult":
            block: Message = {"type": "text", "text": f"Done, with {len(messages)} messages in view."}
        else:
            call_id = f"call-{len(messages)}"
            block = {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": __file__}}
        stop = "stop" if block["type"] == "text" else "toolUse"
        told = {"provider": MODEL.provider, "model": MODEL.id, "stopReason": stop}
        return {"role": "assistant", "content": [block], **told}


async def run_tool(call: Message) -> Message:
    """Run the one tool that there is."""
    text = await asyncio.to_thread(Path(call["arguments"]["path"]).read_text)
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call["id"], "toolName": "read", "content": content, "isError": False}


async def turn(agent: AgentSession, model: ScriptedModel, prompt: str, stop: AbortSignal) -> None:
    """Append the prompt, let the model use its tool until it is done, and compact when the window is full."""
    print(f"> {prompt}")
    await agent.maybe_compact(before_prompt=True, signal=stop)
    await agent.session.append_message({"role": "user", "content": prompt})
    calls: list[Message] = [{}]
    while calls:
        context = await agent.get_context()
        message = await stop.run(model.answer(context.messages))
        await agent.session.append_message(message)
        calls = [block for block in message["content"] if block["type"] == "toolCall"]
        for call in calls:
            await agent.session.append_message(await stop.run(run_tool(call)))
    print(message["content"][0]["text"])
    compacted = await agent.maybe_compact(signal=stop)
    if compacted is not None and compacted.result is not None:
        print(f"  (compacted: {compacted.result.tokens_before} tokens before)")


async def main(sessions_dir: str, prompts: list[str]) -> None:
    """Ask everything, then go back to the second prompt and ask it in another way; the branch leaves a summary."""
    controller, hooks, model = AbortController(), Hooks(), ScriptedModel()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, controller.abort, "Ctrl-C")
    hooks.on("session_tree", lambda event: print(f"  (moved from {event.old_leaf_id} to {event.new_leaf_id})"))
    settings = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1_200))
    async with SessionService(sessions_dir) as service:
        session = await service.create()
        agent = AgentSession(session, summarizer=DigestSummarizer(), model=MODEL, hooks=hooks, settings=settings)
        try:
            for prompt in prompts:
                await turn(agent, model, prompt, controller.signal)
            second = (await agent.get_user_messages_for_branching())[1]
            moved = await agent.navigate_tree(second.entry_id, summarize=True, signal=controller.signal)
            await turn(agent, model, f"{moved.editor_text} (briefly)", controller.signal)
        except AbortError as error:
            print(f"stopped: {error}; everything said so far is in {session.session_file}")
        print("context:", [message["role"] for message in (await agent.get_context()).messages])


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        asyncio.run(main(directory, ["What does this file do?", "What is its tool?", "And Ctrl-C?"]))
