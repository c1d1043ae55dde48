"""A scripted OpenAI-compatible server: streams the replies that a test sets, and records the requests.

In a test:      with Upstream() as upstream: upstream.reply({"text": "Hi"}, model="scripted")
As a process:   python -m tests.upstream --port 9000   (POST /script, POST /release, GET /requests, DELETE /script)

A reply is a list of steps, each a dict with one of these keys:

    text, reasoning        one delta (`"field": "reasoning"` for the other spelling)
    words                  that many deltas "0 ", "1 ", …; `"every_s"` apart
    call                   a tool call: {"name": …, "arguments": {…} or "text"}, several are parallel calls; its "id"
                           ("" for none) and "index" (None for none) are made up; "pieces": deltas for the arguments
                           (default 2; 0: all in one with the name)
    delta, chunk, raw      a given delta; a given chunk; characters or bytes sent verbatim, without framing
    long_line              one data line of that many characters
    usage                  sent at the end, if the request asked for usage; replaces the counted one
    finish                 the finish_reason (default "stop", after calls "tool_calls"); None: neither finish, usage
                           nor [DONE]
    refusal                finish_reason content_filter with a refusal and no text
    pause_s, hang, wait    sleep; never continue; wait until released by that name (`release("name")`, POST /release)
    silent                 never send even the headers; the first step
    status                 an HTTP error instead of a stream, with `retry_after`, `location`, `body`
    eof                    close the connection at this point

`api_key = "…"`: refuse others. `models`: what GET /v1/models lists; `listing`: what it answers instead, {"status", "body", "headers"}.
`strict = True` (--strict): refuse, with status 400, what chat templates with alternating roles refuse.

Requests that do not stream (for titles and summaries) are recorded in `asides`, apart from the requests of runs. They are
answered by rules with stream=False, else with status 400.
"""

import argparse
import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.upstream_embeddings import Embeddings
from tests.upstream_steps import Rule, Step, delta, last_user_text, numbered, pieces, whole
from tests.upstream_template import refusal


@dataclass
class Received:
    """A request and how it ended: complete, status, broken (by this server) or disconnected (by the client)."""

    body: dict[str, Any]
    headers: dict[str, str]
    received_at: float = field(default_factory=time.time)
    chunks: int = 0
    ended: str | None = None
    ended_at: float | None = None

    def end(self, how: str) -> None:
        self.ended, self.ended_at = how, time.time()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]


class Upstream:
    """The server, in its own thread. base_url ends in /v1."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.rules: list[Rule] = []
        self.requests: list[Received] = []
        self.asides: list[Received] = []
        self.strict = False
        self.api_key = ""
        self.models = ["scripted"]
        self.listing: dict[str, Any] | None = None
        self.listings: list[dict[str, str]] = []
        self.embeddings = Embeddings()
        self._peers: set[tuple[str, int]] = set()
        self._released: dict[str, asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._stopping: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="upstream")

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def connections(self) -> int:
        """The number of distinct connections that sent requests."""
        return len(self._peers)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30), "the scripted upstream did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    # Scripting

    def reply(self, *steps: Step, model: str | None = None, contains: str | None = None,
              times: int | None = None, stream: bool = True, after_tools: int | None = None) -> None:  # fmt: skip
        """Answer matching requests with these steps; the first matching rule that is not used up applies.

        contains: a substring of the question.  after_tools: the number of tool responses since the question.
        """
        self.rules.append(Rule(list(steps), model, contains, times, stream, after_tools))

    def reply_by(self, function: Callable[[dict[str, Any]], list[Step]], model: str | None = None) -> None:
        """Answer matching requests with the steps that `function` returns for the request's body."""
        self.rules.append(Rule(function, model))

    def release(self, name: str) -> None:
        """End every `wait` of this name, current and future."""
        self._loop.call_soon_threadsafe(lambda: self._event(name).set())

    def reset(self) -> None:
        self.rules.clear()
        self.requests.clear()
        self.asides.clear()
        self.embeddings = Embeddings()
        self._peers.clear()
        self._released = {}

    def wait_for(self, condition: Callable[[], Any], timeout_s: float = 60) -> Any:
        """Wait until `condition` returns a true value, and return it.

        The longer it takes the less often it is asked: many conditions are requests, which would slow down what they wait for.
        """
        begin = time.monotonic()
        while not (value := condition()):
            waited_s = time.monotonic() - begin
            assert waited_s < timeout_s, f"not within {timeout_s} s; requests: {self.requests}"
            time.sleep(0.005 + waited_s / 20)
        return value

    def wait_for_requests(self, count: int = 1, timeout_s: float = 60) -> list[Received]:
        self.wait_for(lambda: len(self.requests) >= count, timeout_s)
        return self.requests

    # The server

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.serve())
        self._loop.close()

    async def serve(self) -> None:
        self._stopping = asyncio.Event()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._completions)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/requests", self._get_requests)
        app.router.add_post("/script", self._post_script)
        app.router.add_delete("/script", self._delete_script)
        app.router.add_post("/release", self._post_release)
        # handler_cancellation: a disconnect is detected even while nothing is sent.
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        received = Received(body, dict(request.headers))
        streams = bool(body.get("stream"))
        (self.requests if streams else self.asides).append(received)
        self._peers.add(request.transport.get_extra_info("peername"))
        if self._refuses_key_of(request):
            return _error({"status": 401}, received)
        if self.strict and (reason := refusal(body["messages"])):
            return _error({"status": 400, "body": {"error": {"message": reason, "code": 400}}}, received)
        rule = next((rule for rule in self.rules if rule.takes(body)), None)
        unscripted = {"text": f"You said: {last_user_text(body)}"} if streams else {"status": 400}
        steps = rule.take(body) if rule else [unscripted]
        try:
            if steps and "status" in steps[0]:
                return _error(steps[0], received)
            if steps and "silent" in steps[0]:
                await asyncio.Event().wait()
            if not streams:
                return await self._answer_at_once(request, steps, received)
            return await self._stream(request, steps, received)
        except (asyncio.CancelledError, ConnectionError):
            if received.ended is None:
                received.end("disconnected")
            raise

    async def _stream(
        self, request: web.Request, steps: list[Step], received: Received
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for step in [*numbered(steps), {"ending": steps}]:
            if "eof" in step:
                received.end("broken")
                if step["eof"] == "garbage":
                    request.transport.write(b"no chunk\r\n")
                request.transport.abort() if step["eof"] == "abort" else request.transport.close()
                return response
            async for piece in self._play(step, received.body):
                await response.write(piece)
                received.chunks += 1
        received.end("complete")
        return response

    async def _answer_at_once(
        self, request: web.Request, steps: list[Step], received: Received
    ) -> web.StreamResponse:
        for step in steps:
            if "eof" in step:
                received.end("broken")
                request.transport.abort() if step["eof"] == "abort" else request.transport.close()
                return web.Response()
            async for _ in self._play(step, received.body):
                pass
        received.end("complete")
        return web.Response(body=whole(steps, received.body), content_type="application/json")

    async def _play(self, step: Step, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """The bytes of one step, in its own time."""
        if "words" in step:
            for number in range(step["words"]):
                yield delta(body, {"content": f"{number} "})
                await asyncio.sleep(step.get("every_s", 0))
        elif "pause_s" in step:
            await asyncio.sleep(step["pause_s"])
        elif "hang" in step:
            await asyncio.Event().wait()
        elif "wait" in step:
            await self._event(step["wait"]).wait()
        else:
            for piece in pieces(step, body):
                yield piece

    def _event(self, name: str) -> asyncio.Event:
        return self._released.setdefault(name, asyncio.Event())

    # For tests in another process

    async def _models(self, request: web.Request) -> web.Response:
        self.listings.append(dict(request.headers))
        if given := {"status": 401} if self._refuses_key_of(request) else self.listing:
            return web.Response(
                status=given.get("status", 200), text=given.get("body"), headers=given.get("headers")
            )
        return web.json_response({"data": [{"id": name, "object": "model"} for name in self.models]})

    def _refuses_key_of(self, request: web.Request) -> bool:
        return bool(self.api_key) and request.headers.get("Authorization") != f"Bearer {self.api_key}"

    async def _embeddings(self, request: web.Request) -> web.Response:
        return await self.embeddings.answer(request)

    async def _get_requests(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(received) for received in self.requests])

    async def _post_script(self, request: web.Request) -> web.Response:
        """One rule, or a list of rules: {"steps": […], "model": …, "contains": …, "times": …}."""
        given = await request.json()
        self.rules += [Rule(**rule) for rule in (given if isinstance(given, list) else [given])]
        return web.json_response({"rules": len(self.rules)})

    async def _delete_script(self, _: web.Request) -> web.Response:
        self.reset()
        return web.json_response({})

    async def _post_release(self, request: web.Request) -> web.Response:
        self._event((await request.json())["name"]).set()
        return web.json_response({})


def _error(step: Step, received: Received) -> web.Response:
    received.end("status")
    names = {"retry_after": "Retry-After", "location": "Location"}
    headers = {name: str(step[key]) for key, name in names.items() if key in step}
    body = step.get("body", {"error": {"message": f"scripted {step['status']}", "type": "scripted"}})
    return web.json_response(body, status=step["status"], headers=headers)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--strict", action="store_true")
    given = arguments.parse_args()
    upstream = Upstream(given.port)
    upstream.strict = given.strict
    with upstream:
        print(upstream.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
