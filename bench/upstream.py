"""A fast OpenAI-compatible upstream that tells every token's birth time. Raw ASGI; it understands nothing.

Model `mock-<N>x<R>`: N content tokens at R tokens/s (0: as fast as possible). A token is ` t` and the 16 hex digits
of time.time_ns(), so a client on the same machine knows how long it travelled. `GET /log` tells when each
request came, got its first token and ended, or lost its client; `DELETE /log` forgets.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

MODEL = re.compile(r"mock-(\d+)x(\d+)")
# The client's own mark in the user message; the last one wins, as history comes before the question.
MARK = re.compile(rb"bench-[0-9a-f]{32}")
# At full speed several events share a write, or the upstream would spend the core the relays are measured on.
EVENTS_PER_WRITE = 8
HEAD = b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"%b","choices":[{"index":0,"delta":'
TAIL = b',"logprobs":null,"finish_reason":%b}]}\n\n'
DONE = (
    b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"%b","choices":[],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":%d,"total_tokens":%d}}\n\ndata: [DONE]\n\n'
)


class Asked(msgspec.Struct):
    model: str
    stream: bool = False


class Seen(msgspec.Struct):
    """What happened to one request; nanoseconds of the wall clock, 0: did not happen."""

    mark: str
    model: str
    arrived_ns: int
    first_token_ns: int = 0
    ended_ns: int = 0
    disconnected_ns: int = 0


LOG: list[Seen] = []
decode = msgspec.json.Decoder(Asked).decode


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    if scope["path"] == "/log":
        await answer(send, report(scope["method"]))
        return
    body = await read(receive)
    arrived_ns = time.time_ns()
    asked = decode(body)
    marks = MARK.findall(body)
    seen = Seen(marks[-1].decode() if marks else "", asked.model, arrived_ns)
    LOG.append(seen)
    if asked.stream:
        await stream(seen, receive, send)
    else:
        await answer(send, whole(asked.model))
        seen.ended_ns = time.time_ns()


def report(method: str) -> bytes:
    if method == "DELETE":
        LOG.clear()
    return msgspec.json.encode(LOG)


def whole(model: str) -> bytes:
    message = {"role": "assistant", "content": "Benchmark"}
    return msgspec.json.encode(
        {
            "id": "chatcmpl-bench", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
        }
    )  # fmt: skip


async def stream(seen: Seen, receive: Receive, send: Send) -> None:
    sender = asyncio.ensure_future(tokens(seen, send))
    watcher = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((sender, watcher), return_when=asyncio.FIRST_COMPLETED)
        if not sender.done():
            seen.disconnected_ns = time.time_ns()
    finally:
        sender.cancel()
        watcher.cancel()


async def tokens(seen: Seen, send: Send) -> None:
    match = MODEL.fullmatch(seen.model)
    count, rate = (int(match[1]), int(match[2])) if match else (50, 50)
    model = seen.model.encode()
    head, tail = HEAD % model, TAIL % b"null"
    await start(send, b"text/event-stream")
    await part(send, head + b'{"role":"assistant","content":""}' + tail)
    seen.first_token_ns = time.time_ns()
    event = head + b'{"content":" t%016x"}' + tail
    await (paced(send, event, count, rate) if rate else unpaced(send, event, count))
    await part(send, head + b"{}" + TAIL % b'"stop"')
    await part(send, DONE % (model, count, count + 10))
    await send({"type": "http.response.body", "body": b""})
    seen.ended_ns = time.time_ns()


async def paced(send: Send, event: bytes, count: int, rate: int) -> None:
    begin = time.monotonic()
    for number in range(count):
        wait_s = begin + number / rate - time.monotonic()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        await part(send, event % time.time_ns())


async def unpaced(send: Send, event: bytes, count: int) -> None:
    for done in range(0, count, EVENTS_PER_WRITE):
        now = range(min(EVENTS_PER_WRITE, count - done))
        await part(send, b"".join([event % time.time_ns() for _ in now]))
        await asyncio.sleep(0)


async def read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def answer(send: Send, body: bytes) -> None:
    await start(send, b"application/json")
    await send({"type": "http.response.body", "body": body})


async def start(send: Send, content_type: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})


async def part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
