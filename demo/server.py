"""HTTP server of the demo model: /v1/models and /v1/chat/completions, streamed or not. Plain ASGI."""

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from demo.answers import (
    BRIEF_NAME,
    NAME,
    DemoAnswer,
    Offered,
    build_answer,
    find_document,
    find_latest_question,
    find_result,
    names_of_tools,
)

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    match (scope["type"], scope.get("method"), scope.get("path")):
        case ("lifespan", _, _):
            await handle_lifespan(receive, send)
        case ("http", "GET", "/v1/models"):
            await send_json(
                send,
                200,
                {
                    "object": "list",
                    "data": [
                        {"id": name, "object": "model", "owned_by": "turnwire"} for name in (NAME, BRIEF_NAME)
                    ],
                },
            )
        case ("http", "POST", "/v1/chat/completions"):
            await handle_completion(receive, send)
        case _:
            await send_json(send, 404, build_error("There is nothing here."))


async def handle_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def handle_completion(receive: Receive, send: Send) -> None:
    try:
        request = json.loads(await read_body(receive))
        model, messages = str(request["model"]), list(request["messages"])
        question = find_latest_question(messages)
        tools = request.get("tools") if request.get("tool_choice") != "none" else None
        offered = Offered(names_of_tools(tools), find_result(messages), find_document(messages))
    except (ValueError, TypeError, KeyError, AttributeError):
        await send_json(send, 400, build_error("A chat completion needs model and messages."))
        return
    answer = build_answer(model, question, offered)
    # An estimate of four characters per token is good enough for a demo.
    usage = build_usage(len(json.dumps(messages)) // 4, len(answer.reasoning) + len(answer.pieces))
    if request.get("stream"):
        with_usage = bool((request.get("stream_options") or {}).get("include_usage"))
        await send_events(receive, send, build_events(model, answer, usage if with_usage else None))
    else:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.tool:
            message["tool_calls"] = [build_call(answer)]
        choice = {"index": 0, "message": message, "finish_reason": finish_of(answer)}
        await send_json(
            send, 200, build_envelope(model, "chat.completion") | {"choices": [choice], "usage": usage}
        )


def build_events(model: str, answer: DemoAnswer, usage: dict[str, int] | None) -> list[tuple[float, bytes]]:
    """Return the SSE events to send, each with its time in seconds from the start."""
    head = build_envelope(model, "chat.completion.chunk")

    def encode_chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return encode_event(head | {"choices": [choice]} | ({} if usage is None else {"usage": None}))

    gap_s = 1 / answer.pieces_per_s if answer.pieces_per_s else 0.0
    events = [(0.0, encode_chunk({"role": "assistant", "content": ""}))]
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in answer.reasoning]
    deltas += [{"content": piece} for piece in answer.pieces]
    if answer.tool:
        deltas.append({"tool_calls": [{"index": 0, **build_call(answer)}]})
    events += [(number * gap_s, encode_chunk(delta)) for number, delta in enumerate(deltas)]
    end_s = events[-1][0]
    events.append((end_s, encode_chunk({}, finish_of(answer))))
    if usage is not None:
        events.append((end_s, encode_event(head | {"choices": [], "usage": usage})))
    return [*events, (end_s, b"data: [DONE]\n\n")]


def build_call(answer: DemoAnswer) -> dict[str, Any]:
    return {
        "id": f"call_{uuid.uuid4().hex[:12]}",
        "type": "function",
        "function": {"name": answer.tool, "arguments": answer.arguments},
    }


def finish_of(answer: DemoAnswer) -> str:
    return "tool_calls" if answer.tool else "stop"


async def send_events(receive: Receive, send: Send, events: list[tuple[float, bytes]]) -> None:
    """Send each event at its time; stop when the client disconnects."""
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    disconnect = asyncio.ensure_future(wait_for_disconnect(receive))
    started_at = time.monotonic()
    try:
        for at_s, event in events:
            wait_s = started_at + at_s - time.monotonic()
            if wait_s > 0:
                await asyncio.wait([disconnect], timeout=wait_s)
            if disconnect.done():
                return
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        disconnect.cancel()


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def read_body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def send_json(send: Send, status: int, value: dict[str, Any]) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


def build_envelope(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def build_usage(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def encode_event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def build_error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
