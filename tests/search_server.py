"""A scripted SearXNG server: returns the results that a test sets, and records the requests.

In a test:      with SearchServer() as searching: searching.find({"title": …, "url": …, "content": …}, query="moon")
As a process:   python -m tests.search_server --port 9001   (POST /script, GET /requests, DELETE /script)

A rule is {"results": […]}, with "query" (a substring of the queries that it matches; default: all) and, instead of results:

    status      an HTTP status, with `headers`
    body        the response body, verbatim
    hang        never respond
"""

import argparse
import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from aiohttp import web

Rule = dict[str, Any]


@dataclass
class SearchRequest:
    """One search request. left: the client disconnected before the response."""

    query: str
    path: str
    parameters: dict[str, str]
    headers: dict[str, str] = field(repr=False)
    left: bool = False


class SearchServer:
    """The server, in its own thread."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.rules: list[Rule] = []
        self.requests: list[SearchRequest] = []
        self.pages: dict[str, str] = {}  # HTML by name
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="search server")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def queries(self) -> list[str]:
        return [asked.query for asked in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30), "the scripted search server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    # Scripting

    def find(self, *results: dict[str, Any], query: str = "") -> None:
        """Return these results for queries that contain `query`; the first matching rule applies."""
        self.rules.append({"results": list(results), "query": query})

    def answer(self, query: str = "", **rule: Any) -> None:
        """Add a rule of another kind for queries that contain `query`."""
        self.rules.append({**rule, "query": query})

    def publish(self, name: str, html: str) -> str:
        """Serve a page; returns its address."""
        self.pages[name] = html
        return f"{self.url}/pages/{name}"

    def reset(self) -> None:
        self.rules.clear()
        self.requests.clear()
        self.pages.clear()

    def wait_for(self, condition: Callable[[], object], timeout_s: float = 60) -> None:
        limit = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < limit, f"not within {timeout_s} s; requests: {self.requests}"
            time.sleep(0.005)

    # The server

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application()
        app.router.add_get("/search", self._search)
        app.router.add_get("/res/v1/web/search", self._search_as_brave)
        app.router.add_post("/search", self._search_as_tavily)
        app.router.add_get("/pages/{name}", self._page)
        app.router.add_get("/requests", self._get_requests)
        app.router.add_post("/script", self._post_script)
        app.router.add_delete("/script", self._delete_script)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _search(self, request: web.Request) -> web.Response:
        parameters = dict(request.query)
        asked = SearchRequest(parameters.get("q", ""), request.path, parameters, dict(request.headers))
        self.requests.append(asked)
        if parameters.get("format") != "json":
            return web.Response(text="<html>results</html>", content_type="text/html")
        rule = next((rule for rule in self.rules if rule.get("query", "") in asked.query), {})
        if "hang" in rule:
            await self._hang(asked)
        if "body" in rule:
            return web.Response(text=rule["body"], content_type="application/json")
        if "status" in rule:
            return web.Response(status=rule["status"], headers=rule.get("headers"), text="scripted")
        found = rule.get("results", [])
        # The other fields of a real SearXNG response.
        return web.json_response(
            {"query": asked.query, "number_of_results": len(found), "results": found, "answers": [],
             "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}
        )  # fmt: skip

    # The shapes of services that need a key: that of the tests is "key".

    async def _search_as_brave(self, request: web.Request) -> web.Response:
        parameters = dict(request.query)
        self.requests.append(SearchRequest(parameters["q"], request.path, parameters, dict(request.headers)))
        if request.headers.get("X-Subscription-Token") != "key":
            return web.json_response({"type": "ErrorResponse"}, status=422)
        found = next(
            (rule["results"] for rule in self.rules if rule.get("query", "") in parameters["q"]), None
        )
        shape = {"type": "search", "query": {"original": parameters["q"]}, "mixed": {}}
        return web.json_response(
            shape | ({} if found is None else {"web": {"type": "search", "results": found}})
        )

    async def _search_as_tavily(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(SearchRequest(body["query"], request.path, body, dict(request.headers)))
        if request.headers.get("Authorization") != "Bearer key":
            return web.json_response({"detail": {"error": "Unauthorized"}}, status=401)
        found = next((rule["results"] for rule in self.rules if rule.get("query", "") in body["query"]), [])
        return web.json_response(
            {"query": body["query"], "answer": None, "images": [], "results": found, "response_time": 0.5}
        )

    async def _page(self, request: web.Request) -> web.Response:
        html = self.pages.get(request.match_info["name"])
        if html is None:
            raise web.HTTPNotFound
        return web.Response(text=html, content_type="text/html")

    async def _hang(self, asked: SearchRequest) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            asked.left = True

    # For tests in another process

    async def _get_requests(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(asked) for asked in self.requests])

    async def _post_script(self, request: web.Request) -> web.Response:
        """One rule, or a list of rules."""
        given = await request.json()
        self.rules += given if isinstance(given, list) else [given]
        return web.json_response({"rules": len(self.rules)})

    async def _delete_script(self, _: web.Request) -> web.Response:
        self.reset()
        return web.json_response({})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--port", type=int, default=0)
    with SearchServer(arguments.parse_args().port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
