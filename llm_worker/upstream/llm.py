"""The model servers. The only file that knows the vendor's SDK; what it sends of messages is wire.py's.

The SDK keeps authentication, addresses, timeouts and error types; tokens take the short way: raw bytes, our own
SSE split, msgspec. Retrying is ours, since only the first chunk says whether a retry would repeat something.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import aiohttp
import httpx2
import openai

from chat.log.flush_window import FlushWindow
from llm_worker.request.api_messages import to_api_messages
from llm_worker.upstream.client import HttpClient
from llm_worker.upstream.completion import Completion, parse_completion
from llm_worker.upstream.deltas import Delta, ModelFailed
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.request_logging import log_completion, log_request
from llm_worker.upstream.stream_reader import StreamReader
from llm_worker.upstream.transport import AiohttpTransport, ResponseBody, body_of

logger = logging.getLogger(__name__)

RETRIES = 2
RETRIED_STATUSES = frozenset({429, 500, 502, 503})
FIRST_RETRY_S = 0.5
# A server that wants to be left alone for longer is not waited for: the user is told that it is busy.
LONGEST_RETRY_AFTER_S = 30.0
# What the SDK and what it stands on raise.
SDK_ERRORS = (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError)
# Local servers ask for no key, but the SDK insists on one.
NO_KEY = "none"
# A completion that nobody watches is a title or a summary.
LONGEST_COMPLETION_BYTES = 8 * 1024 * 1024
CODES_BY_STATUS = {
    401: "upstream_auth",
    403: "upstream_auth",
    408: "upstream_timeout",
    429: "upstream_rate_limited",
    504: "upstream_timeout",
}


class LanguageModels:
    """Clients of all model servers this process talks to; lives on one event loop."""

    def __init__(
        self,
        *,
        connections: int,
        silence_s: float,
        flush_window: FlushWindow | None = None,
        first_retry_s: float = FIRST_RETRY_S,
    ) -> None:
        """connections: how many requests may run at once.  silence_s: how long a server may send nothing.

        flush_window: when received chunks are read; shared with the publisher, which sends in the same windows.
        """
        self._connections = connections
        self._silence_s = silence_s
        self._flush_window = flush_window or FlushWindow()
        self._first_retry_s = first_retry_s
        self._clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def stream(self, request: Request) -> AsyncGenerator[list[Delta]]:
        """The answer as it comes: the deltas of each piece of the network's, in order.

        Raises ModelFailed. Closing the iterator, or cancelling the task that reads it, closes the connection.
        """
        for retries_left in range(RETRIES, -1, -1):
            started = False
            try:
                async with aclosing(self._stream_once(request)) as received:
                    async for deltas in received:
                        started = True
                        yield deltas
            except _Refused as refused:
                wait_s = self._pause_s(request, refused, 0 if started else retries_left)
            else:
                return
            await asyncio.sleep(wait_s)

    async def complete(self, request: Request) -> Completion:
        """The whole answer at once, for what nobody watches. Raises ModelFailed, after as many retries as stream()."""
        for retries_left in range(RETRIES, -1, -1):
            try:
                return await self._complete_once(request)
            except _Refused as refused:
                wait_s = self._pause_s(request, refused, retries_left)
            await asyncio.sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")

    def _pause_s(self, request: Request, refused: "_Refused", retries_left: int) -> float:
        """How long to wait before the next attempt. Raises ModelFailed if there is none."""
        if not retries_left or not refused.may_pass:
            logger.warning("%r failed: %s", request.model, refused.failure)
            raise refused.failure from refused
        return refused.wait_s(self._first_retry_s * 2.0 ** (RETRIES - retries_left))

    async def _complete_once(self, request: Request) -> Completion:
        body = _body(request) | {"stream": False}
        del body["stream_options"]
        received = b""
        try:
            async with self._open(request.model, body) as pieces:
                async for piece in pieces:
                    received += piece
                    if len(received) > LONGEST_COMPLETION_BYTES:
                        raise ModelFailed("upstream_malformed", "the completion does not end")
        except SDK_ERRORS as error:
            raise _refused(error, started=False) from error
        completion = parse_completion(received)
        log_completion(completion)
        return completion

    async def _stream_once(self, request: Request) -> AsyncGenerator[list[Delta]]:
        reading = StreamReader()
        try:
            async with self._open(request.model, _body(request)) as received:
                while piece := await received.read():
                    known = reading.chunks
                    deltas = reading.take(piece)
                    self._flush_window.count(reading.chunks - known)
                    if reading.chunks:
                        yield deltas
                    if reading.failure:
                        raise _Refused(reading.failure)
                    if reading.is_done:
                        await received.read_to_the_end()
                        return
                    # Nobody waits for the first word any more, nor yet for the end.
                    if reading.has_spoken and not reading.has_finished:
                        await received.wait(self._flush_window.next_window())
        except SDK_ERRORS as error:
            raise _refused(error, started=reading.chunks > 0) from error
        if not reading.has_finished:
            raise _Refused(
                ModelFailed("upstream_interrupted", "the stream ended in the middle"), may_pass=True
            )

    @asynccontextmanager
    async def _open(self, model: Model, body: dict[str, Any]) -> AsyncIterator[ResponseBody]:
        log_request(body)
        accepted = "text/event-stream" if body["stream"] else "application/json"
        client = self._client(model)
        # Not chat.completions.create: it checks every message against its types, 3 ms that say nothing to us.
        response = await client.post(
            f"{client.base_url}chat/completions",  # whole: putting it together takes the SDK longer than the rest
            cast_to=httpx2.Response,
            body=body,
            # Small events gain nothing from compression, and a compressing server would hold them back.
            options={"headers": {"Accept": accepted, "Accept-Encoding": "identity"}},
            stream=True,
            stream_cls=openai.AsyncStream[Any],
        )
        try:
            yield body_of(cast("httpx2.Response", response))
        finally:
            await cast("httpx2.Response", response).aclose()

    def _client(self, model: Model) -> openai.AsyncOpenAI:
        place = (model.base_url, model.api_key)
        if place not in self._clients:
            self._clients[place] = openai.AsyncOpenAI(
                base_url=model.base_url,
                api_key=model.api_key or NO_KEY,
                max_retries=0,
                timeout=None,  # the transport's
                http_client=HttpClient(AiohttpTransport(model.base_url, self._connections, self._silence_s)),
            )
        return self._clients[place]


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model.name,
        "messages": to_api_messages(request.messages),
        _max_tokens_name(request.model): request.model.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = list(request.tools)
        body["tool_choice"] = request.tool_choice
    if request.model.takes_prompt_cache_key and request.cache_key:
        body["prompt_cache_key"] = request.cache_key
    return body


def _max_tokens_name(model: Model) -> str:
    # OpenAI's reasoning models refuse the name that every compatible server understands.
    return "max_completion_tokens" if "//api.openai.com" in model.base_url else "max_tokens"


@dataclass
class _Refused(Exception):
    """One attempt failed. may_pass: another one may succeed, if nothing was received yet."""

    failure: ModelFailed
    may_pass: bool = False
    retry_after_s: float | None = None

    def wait_s(self, otherwise_s: float) -> float:
        if self.retry_after_s is not None:
            return self.retry_after_s
        # Up to a quarter less, so that runs that failed together do not come back together.
        return otherwise_s * random.uniform(0.75, 1.0)  # noqa: S311


def _refused(error: Exception, *, started: bool) -> _Refused:
    if isinstance(error, openai.APIStatusError):
        return _refused_by_status(error)
    if _timed_out(error):
        return _Refused(ModelFailed("upstream_timeout", "silence"), may_pass=True)
    code = "upstream_interrupted" if started else "upstream_unavailable"
    return _Refused(ModelFailed(code, repr(error.__cause__ or error)[:300]), may_pass=True)


def _refused_by_status(error: openai.APIStatusError) -> _Refused:
    status = error.status_code
    fallback = "upstream_unavailable" if status >= 500 else "upstream_rejected"
    code = CODES_BY_STATUS.get(status, fallback)
    if error.code == "context_length_exceeded":
        code = "context_too_long"
    # Servers quote the beginning of a key that they refuse.
    detail = f"status {status}" if code == "upstream_auth" else f"status {status}: {error.message[:300]}"
    retry_after_s = _retry_after_s(error.response.headers.get("retry-after", ""))
    too_long = retry_after_s is not None and retry_after_s > LONGEST_RETRY_AFTER_S
    may_pass = status in RETRIED_STATUSES and not too_long
    return _Refused(ModelFailed(code, detail), may_pass=may_pass, retry_after_s=retry_after_s)


def _retry_after_s(header: str) -> float | None:
    """Seconds; None for no header, a date (which trusts two clocks) or nonsense."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _timed_out(error: BaseException | None) -> bool:
    """Whether a timeout is behind it. The transport calls every lost connection a ConnectTimeout, so ask aiohttp."""
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__
    return False
