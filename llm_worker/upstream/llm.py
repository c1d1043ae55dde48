"""Client of the model servers, streamed and whole, with retries. The only file of the worker that uses the OpenAI SDK.

The SDK does authentication, addresses and error types. Tokens bypass it: raw bytes, a local SSE splitter, msgspec.
Retries are done here, because only the first chunk tells whether a retry would repeat text.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import httpx2
import openai

from chat.infrastructure import log_context
from chat.log.flush_window import FlushWindow
from llm_worker.upstream.chat_completion import Completion, parse_completion
from llm_worker.upstream.client_pool import ClientPool, Place
from llm_worker.upstream.deltas import Delta, ModelFailed
from llm_worker.upstream.failures import TIMEOUT, TRANSIENT, classify_status, read_error
from llm_worker.upstream.learned_traits import LearnedTraits, ServerMemory, name_refused_option
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.redirects import REDIRECTS_TO, address_of, redirect_of
from llm_worker.upstream.request_body import request_body
from llm_worker.upstream.request_logging import log_completion, log_failure, log_request, log_skipped
from llm_worker.upstream.server_slots import GaveWay, server_slot
from llm_worker.upstream.stream_reader import MAX_COMPLETION_BYTES, StreamReader
from llm_worker.upstream.transport import AiohttpTransport, ResponseBody, body_of, new_http_client

RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 529})
# With a longer Retry-After the run fails at once: the user is told that the server is busy.
LONGEST_RETRY_AFTER_S: Final = 30.0
RETRIES: Final = 2
# Codes of a server that could not read the calls of its model, which mostly writes others when it is asked again (Groq).
ASKED_ONCE_MORE: Final = frozenset({"tool_use_failed"})


@dataclass
class AttemptFailed(Exception):
    """One attempt failed. is_retryable: another one may succeed, if nothing was received yet."""

    failure: ModelFailed
    is_retryable: bool = False
    retry_after_s: float | None = None

    def may_be_retried(self, retries_left: int) -> bool:
        """Return whether another attempt is made. retries_left: 0 once something was received."""
        if self.failure.upstream_code in ASKED_ONCE_MORE:
            return retries_left == RETRIES
        return retries_left > 0 and self.is_retryable

    def wait_s(self, otherwise_s: float) -> float:
        if self.retry_after_s is not None:
            return self.retry_after_s
        # Jitter of up to a quarter, so that runs that failed together do not retry together.
        return otherwise_s * random.uniform(0.75, 1.0)  # noqa: S311


def status_failure(status: int, answer: str, headers: Mapping[str, str]) -> AttemptFailed:
    """Build the failure of a response with an error status, or with a redirect that is not followed."""
    report = read_error(answer)
    code = classify_status(status, report)
    message = report.message
    if 300 <= status < 400:
        message = REDIRECTS_TO + address_of(headers.get("location", ""))
    retry_after_s = _retry_after_s(headers.get("retry-after", ""))
    too_long = retry_after_s is not None and retry_after_s > LONGEST_RETRY_AFTER_S
    return AttemptFailed(
        ModelFailed(code, message, status, report.code),
        is_retryable=status in RETRIED_STATUSES and code in TRANSIENT and not too_long,
        retry_after_s=retry_after_s,
    )


def _retry_after_s(header: str) -> float | None:
    """Parse Retry-After as seconds; None for no header, a date (which depends on two clocks) or an invalid value."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


logger = logging.getLogger(__name__)

FIRST_RETRY_S = 0.5
# Logged for a request whose sender no longer waits.
CANCELLED = "cancelled"
# Raised by the SDK and the libraries below it.
SDK_ERRORS = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    aiohttp.ClientError,
)
# Local servers need no key, but the SDK requires one.
NO_KEY = "none"
# Raised if there is no connection: refused, no such host, no valid certificate, no answer to the handshake.
UNREACHABLE = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientSSLError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    httpx2.InvalidURL,
)


class LanguageModels:
    """Clients of all model servers that the process talks to. Bound to one event loop."""

    def __init__(
        self,
        *,
        connections: int,
        silence_s: float,
        flush_window: FlushWindow | None = None,
        first_retry_s: float = FIRST_RETRY_S,
        memory: ServerMemory | None = None,
    ) -> None:
        """Start without clients; they are created on first use.

        connections: concurrent requests per server.  silence_s: the longest pause between two reads.
        flush_window: when received chunks are read; shared with the publisher, which sends in the same windows.
        memory: stores what was learned of the server of a model.
        """
        self._connections = connections
        self._silence_s = silence_s
        self._flush_window = flush_window or FlushWindow()
        self._first_retry_s = first_retry_s
        self._traits = LearnedTraits(memory)
        self._memory = memory
        self._clients = ClientPool(self._create_client, openai.AsyncOpenAI.close)

    async def close(self) -> None:
        await self._clients.close()

    async def stream(self, request: Request) -> AsyncGenerator[list[Delta]]:
        """Stream the answer: each list holds the deltas of one read from the network, in order.

        Raises ModelFailed. Closing the iterator, or cancelling the task that reads it, closes the connection.
        """
        sent, retries_left = self._traits.apply(request), RETRIES
        while True:
            started = False
            try:
                async with aclosing(self._stream_once(sent)) as received:
                    async for deltas in received:
                        if not started:
                            await self._traits.accepted(request, sent)
                        started = True
                        yield deltas
            except AttemptFailed as failed:
                if not started and (changed := self._traits.after(failed.failure, sent, is_streamed=True)):
                    log_failure(sent, failed.failure.code, failed.failure.status)
                    sent = changed
                    continue
                # The last failure is logged with what was received (ResponseLog).
                wait_s = self._retry_wait_s(sent, failed, 0 if started else retries_left)
                log_failure(sent, failed.failure.code, failed.failure.status)
            else:
                return
            retries_left -= 1
            await asyncio.sleep(wait_s)

    async def complete(self, request: Request) -> Completion:
        """Return the whole answer.
        Raises ModelFailed, after as many retries as stream(); TimeoutError after request.limit_s.
        """
        while True:
            try:
                async with server_slot(request), asyncio.timeout(request.limit_s):
                    return await self._complete(request)
            except GaveWay:
                logger.info("%r is asked again later: a run waits for its server", request.model)

    async def _complete(self, request: Request) -> Completion:
        sent, retries_left = self._traits.apply(request), RETRIES
        while True:
            try:
                completion = await self._complete_once(sent)
            except asyncio.CancelledError:
                log_failure(sent, CANCELLED)
                raise
            except AttemptFailed as failed:
                log_failure(sent, failed.failure.code, failed.failure.status)
                if changed := self._traits.after(failed.failure, sent, is_streamed=False):
                    sent = changed
                    continue
                wait_s = self._retry_wait_s(sent, failed, retries_left)
            else:
                await self._traits.accepted(request, sent)
                return completion
            retries_left -= 1
            await asyncio.sleep(wait_s)

    def _retry_wait_s(self, request: Request, failed: AttemptFailed, retries_left: int) -> float:
        """Return the seconds to wait before the next attempt. Raises ModelFailed if there is none."""
        failure = name_refused_option(failed.failure, request).redacted([request.model.api_key])
        if request.is_protected:
            failure = ModelFailed(failure.code)  # the server may quote what it was sent
        is_final = failure.code == TIMEOUT and not request.retries_timeouts
        if is_final or not failed.may_be_retried(retries_left):
            raise failure from None  # the causes may quote what was redacted
        logger.info("%r failed and is asked again: %s", request.model, failure)
        return failed.wait_s(self._first_retry_s * 2.0 ** (RETRIES - retries_left))

    async def _complete_once(self, request: Request) -> Completion:
        body = request_body(request, is_streamed=False)
        received = b""
        try:
            async with self._open(request, body) as pieces:
                async for piece in pieces:
                    received += piece
                    if len(received) > MAX_COMPLETION_BYTES:
                        break
            completion = parse_completion(received)
        except SDK_ERRORS as error:
            raise _to_failure(error, started=False) from error
        except ModelFailed as failure:
            raise AttemptFailed(failure, is_retryable=failure.code in TRANSIENT) from failure
        log_completion(request, completion)
        return completion

    async def _stream_once(self, request: Request) -> AsyncGenerator[list[Delta]]:
        reader = StreamReader()
        with _converted_errors(request, reader):
            body = request_body(request, is_streamed=True)
            async with server_slot(request), self._open(request, body) as received:
                while piece := await received.read():
                    known = reader.chunks
                    deltas = reader.take(piece)
                    self._flush_window.count(reader.chunks - known)
                    if reader.chunks:
                        yield deltas
                    if reader.failure:
                        break
                    if reader.is_done:
                        await received.read_to_the_end()
                        break
                    # The first token and the end are read at once; in between, reads wait for the flush window.
                    if reader.has_spoken and not reader.has_finished:
                        await received.wait(self._flush_window.next_window())
        if deltas := reader.end():
            yield deltas
        if reader.failure:
            raise AttemptFailed(reader.failure, reader.is_retryable)

    @asynccontextmanager
    async def _open(self, request: Request, body: dict[str, Any]) -> AsyncIterator[ResponseBody]:
        log_request(request, body)
        accepted = "text/event-stream" if body["stream"] else "application/json"
        headers = {"Accept": accepted, "Accept-Encoding": "identity"}
        if request_id := log_context.current_request_id():
            headers["X-Request-ID"] = request_id
        async with self._clients.borrowed(Place.from_model(request.model)) as client:
            # Not chat.completions.create: it validates every message against its types, which takes 3 ms.
            response = await self._note_redirect(
                request,
                client.post(
                    # Absolute: joining the URL takes the SDK longer than everything else.
                    f"{client.base_url}chat/completions",
                    cast_to=httpx2.Response,
                    body=body,
                    # Compression gains nothing on small events, and a compressing server would buffer them.
                    options={"headers": headers},
                    stream=True,
                    stream_cls=openai.AsyncStream[Any],
                ),
            )
            try:
                yield body_of(response)
            finally:
                await response.aclose()

    async def _note_redirect(self, request: Request, answering: Awaitable[Any]) -> httpx2.Response:
        """Return the response, or raise its error, after storing a redirect that the row of the model does not have."""
        model = request.model
        try:
            response: httpx2.Response = await answering
        except openai.APIStatusError as error:
            await self._compare_redirect(model, error.response)
            raise
        await self._compare_redirect(model, response)
        return response

    async def _compare_redirect(self, model: Model, response: httpx2.Response) -> None:
        target = redirect_of(response, model.api_key)
        if self._memory and target != model.redirects_to:
            await self._memory.note_redirect(model, target)

    def _create_client(self, place: Place) -> openai.AsyncOpenAI:
        transport = AiohttpTransport(
            place.base_url, self._connections, self._silence_s, is_guarded=place.is_guarded
        )
        return openai.AsyncOpenAI(
            base_url=place.base_url,
            api_key=place.api_key or NO_KEY,
            max_retries=0,
            timeout=None,  # enforced by the transport
            http_client=new_http_client(transport),
        )


@contextmanager
def _converted_errors(request: Request, reader: StreamReader) -> Iterator[None]:
    """Convert errors while a stream is read, and log what was skipped.
    Errors of a connection after the answer is complete do not matter.
    """
    try:
        yield
    except SDK_ERRORS as error:
        if not reader.has_finished:
            raise _to_failure(error, started=reader.chunks > 0) from error
    finally:
        log_skipped(request, reader.skipped)


def _to_failure(error: Exception, *, started: bool) -> AttemptFailed:
    if isinstance(error, openai.APIStatusError):
        said = error.response.content.decode("utf-8", "replace")
        return status_failure(error.status_code, said, error.response.headers)
    causes = _causes(error)
    detail = repr(causes[1] if len(causes) > 1 else error)
    code = "upstream_interrupted" if started else "upstream_unavailable"
    if any(isinstance(cause, UNREACHABLE) for cause in causes):
        code = "upstream_unreachable"
    # The SDK reports other lost connections as timeouts as well.
    elif any(isinstance(cause, TimeoutError) for cause in causes):
        code, detail = TIMEOUT, "silence"
    return AttemptFailed(ModelFailed(code, detail), is_retryable=True)


def _causes(error: BaseException | None) -> list[BaseException]:
    """List the exception and its causes, the outermost first."""
    causes: list[BaseException] = []
    while error is not None:
        causes.append(error)
        error = error.__cause__
    return causes
