"""A fast OpenAI-compatible model server whose tokens contain their creation time. Plain ASGI; it ignores the messages.

Model `mock-<N>x<R>`: N content tokens at R tokens/s (0: as fast as possible). A token is ` t` and the 16 hexadecimal
digits of time.time_ns(), from which a client on the same machine computes its delay. `GET /log` returns when each
request arrived, received its first token and ended, or was disconnected; `DELETE /log` clears the log.
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
# The client's mark in the user message. The last one counts, because history precedes the question.
MARK = re.compile(rb"bench-[0-9a-f]{32}")
# At full speed several events share a write, so that the upstream leaves the processor to the measured relays.
EVENTS_PER_WRITE = 8
HEAD = b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"%b","choices":[{"index":0,"delta":'
TAIL = b',"logprobs":null,"finish_reason":%b}]}\n\n'
DONE = (
    b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"%b","choices":[],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":%d,"total_tokens":%d}}\n\ndata: [DONE]\n\n'
)


class CompletionRequest(msgspec.Struct):
    model: str
    stream: bool = False


class RequestRecord(msgspec.Struct):
    """Times of one request in nanoseconds of the wall clock; 0 means that it did not happen."""

    mark: str
    model: str
    arrived_ns: int
    first_token_ns: int = 0
    ended_ns: int = 0
    disconnected_ns: int = 0


LOG: list[RequestRecord] = []
decode = msgspec.json.Decoder(CompletionRequest).decode


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    if scope["path"] == "/log":
        await respond(send, handle_log_request(scope["method"]))
        return
    body = await read_body(receive)
    arrived_ns = time.time_ns()
    request = decode(body)
    marks = MARK.findall(body)
    record = RequestRecord(marks[-1].decode() if marks else "", request.model, arrived_ns)
    LOG.append(record)
    if request.stream:
        await stream_until_disconnect(record, receive, send)
    else:
        await respond(send, complete_response(request.model))
        record.ended_ns = time.time_ns()


def handle_log_request(method: str) -> bytes:
    if method == "DELETE":
        LOG.clear()
    return msgspec.json.encode(LOG)


def complete_response(model: str) -> bytes:
    message = {"role": "assistant", "content": "Benchmark"}
    return msgspec.json.encode(
        {
            "id": "chatcmpl-bench", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
        }
    )  # fmt: skip


async def stream_until_disconnect(record: RequestRecord, receive: Receive, send: Send) -> None:
    sending = asyncio.ensure_future(send_tokens(record, send))
    watching = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            record.disconnected_ns = time.time_ns()
    finally:
        sending.cancel()
        watching.cancel()


async def send_tokens(record: RequestRecord, send: Send) -> None:
    match = MODEL.fullmatch(record.model)
    count, rate = (int(match[1]), int(match[2])) if match else (50, 50)
    model = record.model.encode()
    head, tail = HEAD % model, TAIL % b"null"
    await start_response(send, b"text/event-stream")
    await send_part(send, head + b'{"role":"assistant","content":""}' + tail)
    record.first_token_ns = time.time_ns()
    event = head + b'{"content":" t%016x"}' + tail
    await (send_paced(send, event, count, rate) if rate else send_unpaced(send, event, count))
    await send_part(send, head + b"{}" + TAIL % b'"stop"')
    await send_part(send, DONE % (model, count, count + 10))
    await send({"type": "http.response.body", "body": b""})
    record.ended_ns = time.time_ns()


async def send_paced(send: Send, event: bytes, count: int, rate: int) -> None:
    begin = time.monotonic()
    for number in range(count):
        wait_s = begin + number / rate - time.monotonic()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        await send_part(send, event % time.time_ns())


async def send_unpaced(send: Send, event: bytes, count: int) -> None:
    for sent in range(0, count, EVENTS_PER_WRITE):
        batch = range(min(EVENTS_PER_WRITE, count - sent))
        await send_part(send, b"".join([event % time.time_ns() for _ in batch]))
        await asyncio.sleep(0)


async def read_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def respond(send: Send, body: bytes) -> None:
    await start_response(send, b"application/json")
    await send({"type": "http.response.body", "body": body})


async def start_response(send: Send, content_type: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})


async def send_part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
