"""The demo model's HTTP side: /v1/models and /v1/chat/completions, streamed or not. Plain ASGI."""

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from demo.answers import NAME, Answer, answer_for, latest_question

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    match (scope["type"], scope.get("method"), scope.get("path")):
        case ("lifespan", _, _):
            await lifespan(receive, send)
        case ("http", "GET", "/v1/models"):
            await respond(
                send,
                200,
                {"object": "list", "data": [{"id": NAME, "object": "model", "owned_by": "turnwire"}]},
            )
        case ("http", "POST", "/v1/chat/completions"):
            await completions(receive, send)
        case _:
            await respond(send, 404, error("There is nothing here."))


async def lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def completions(receive: Receive, send: Send) -> None:
    try:
        request = json.loads(await body(receive))
        model, messages = str(request["model"]), list(request["messages"])
        question = latest_question(messages)
    except (ValueError, TypeError, KeyError, AttributeError):
        await respond(send, 400, error("A chat completion needs model and messages."))
        return
    answer = answer_for(model, question)
    # About four characters are a token: good enough for a demo.
    usage = usage_of(len(json.dumps(messages)) // 4, len(answer.pieces))
    if request.get("stream"):
        with_usage = bool((request.get("stream_options") or {}).get("include_usage"))
        await stream(receive, send, chunks(model, answer, usage if with_usage else None))
    else:
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        await respond(send, 200, envelope(model, "chat.completion") | {"choices": [choice], "usage": usage})


def chunks(model: str, answer: Answer, usage: dict[str, int] | None) -> list[tuple[float, bytes]]:
    """What to send and when: (seconds from the start, one SSE event)."""
    head = envelope(model, "chat.completion.chunk")

    def event(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse(head | {"choices": [choice]} | ({} if usage is None else {"usage": None}))

    gap_s = 1 / answer.pieces_per_s if answer.pieces_per_s else 0.0
    timed = [(0.0, event({"role": "assistant", "content": ""}))]
    timed += [(number * gap_s, event({"content": piece})) for number, piece in enumerate(answer.pieces)]
    end_s = timed[-1][0]
    timed.append((end_s, event({}, "stop")))
    if usage is not None:
        timed.append((end_s, sse(head | {"choices": [], "usage": usage})))
    return [*timed, (end_s, b"data: [DONE]\n\n")]


async def stream(receive: Receive, send: Send, timed: list[tuple[float, bytes]]) -> None:
    """Send each event at its time; a client that goes away ends it."""
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    gone = asyncio.ensure_future(until_disconnect(receive))
    began = time.monotonic()
    try:
        for at_s, event in timed:
            wait_s = began + at_s - time.monotonic()
            if wait_s > 0:
                await asyncio.wait([gone], timeout=wait_s)
            if gone.done():
                return
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()


async def until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def respond(send: Send, status: int, value: dict[str, Any]) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


def envelope(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def usage_of(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def sse(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
