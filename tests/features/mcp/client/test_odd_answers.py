"""Lists and results that a real server writes oddly: what is understood is offered and read, and costs nothing else."""

import asyncio
import gc
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from chat.models import McpServer
from features.mcp.client import connections, listing
from features.mcp.client.configuration import Answer, CallLost, Configuration
from features.mcp.client.connections import MAX_CONNECTIONS
from tests.dot import DOT
from tests.features.mcp.client.client import stdio
from tests.features.mcp.client.odd_answers import GOOD, LISTS, RESULTS, dot
from tests.features.mcp.worker_tasks import list_mcp_tools
from tests.instance import ROOT

pytestmark = [pytest.mark.e2e]
Serve = Callable[..., Configuration]


@pytest.fixture
def serve(tmp_path: Path, journal: Path) -> Serve:
    """Returns how a server with this script is reached."""

    def start(**script: Any) -> Configuration:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(script))
        return stdio("-S", str(ROOT / "tests/odd_mcp_server.py"), str(path))

    return start


@pytest.mark.parametrize(("tool", "offered", "left_out"), LISTS.values(), ids=LISTS)
async def test_a_tool_that_is_odd_keeps_no_other_out_and_is_named_if_it_is_left_out(
    client, serve, tool, offered, left_out
):
    server = serve(tools=[tool, GOOD])
    listing = await client.connections.list_tools(server)
    listed = {one.name: one for one in listing.tools}
    assert set(listing.left_out) == left_out
    assert set(listed) == {"good"} | ({"bad"} if offered else set())
    if offered:
        assert listed["bad"].input_schema == offered
    assert (await client.call(server, "good")).text == "good"


async def test_a_result_is_read_block_by_block_and_the_call_is_completed(client, serve):
    results = {name: result for name, (result, _) in RESULTS.items()}
    server = serve(tools=[GOOD], results=results)
    for name, (_, text) in RESULTS.items():
        answer = await client.call(server, name)
        assert (name, answer.text, answer.is_error) == (name, text, False)
        assert (await client.call(server, "good")).text == "good"


@pytest.mark.parametrize(
    "data", dot(), ids=["standard", "wrapped", "data URL", "no padding", "safe for URLs"]
)
async def test_an_image_is_shown_in_whatever_form_its_base64_is(client, serve, data):
    result = {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}
    server = serve(tools=[GOOD], results={"draw": result})
    assert (await client.call(server, "draw")).images == (DOT,)


@pytest.mark.parametrize("result", ["receipt 4711", ["receipt 4711"], 4711, True])
async def test_the_outcome_of_a_call_whose_result_is_no_object_is_unknown_in_our_words(client, serve, result):
    server = serve(tools=[GOOD], results={"pay": result})
    with pytest.raises(CallLost, match=r"^The server answered what the protocol does not allow\.$"):
        await client.call(server, "pay")
    assert await client.call(server, "good") == Answer("good")


@pytest.mark.parametrize(
    "initialized",
    [
        {"protocolVersion": "2025-11-25", "serverInfo": {"name": "odd"}},
        {"protocolVersion": "2025-11-25", "capabilities": None, "serverInfo": None},
        {"capabilities": {"tools": True, "logging": "yes"}},
    ],
    ids=["no capabilities", "null", "no revision"],
)
async def test_a_server_that_leaves_out_who_it_is_and_what_it_can_do_is_listed(client, serve, initialized):
    listing = await client.connections.list_tools(serve(initialize=initialized, tools=[GOOD]))
    assert [tool.name for tool in listing.tools] == ["good"]


def entered(reached: Configuration, settings: Any) -> McpServer:
    """The row of the server."""
    settings.MCP_COMMANDS = [reached.command[0]]
    return McpServer.objects.create(name="odd", transport="stdio", command=list(reached.command))


def test_staff_read_which_tools_are_left_out_and_why(serve, runtime, transactional_db, settings):
    reached = serve(
        tools=[
            {"name": "bad", "inputSchema": {"type": "string"}},
            GOOD,
            {"title": "x"},
            {**GOOD, "name": "x" * 201},
        ]
    )
    server = entered(reached, settings)
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, [tool["tool"] for tool in server.tools]) == ("ready", ["good"])
    assert server.problem == (
        "Left out: bad (its schema is not that of an object); a tool without a name (it cannot be called); "
        f"{'x' * 200} (its name is too long)."
    )


async def test_more_servers_than_connections_are_all_listed_when_they_are_entered_at_once(client, serve):
    server = serve(tools=[GOOD])
    servers = [server._replace(server=f"id{number}") for number in range(MAX_CONNECTIONS + 8)]
    listings = await asyncio.gather(*map(client.connections.list_tools, servers))
    assert [[tool.name for tool in listing.tools] for listing in listings] == [["good"]] * len(servers)


def test_staff_read_why_a_server_is_not_listed_if_its_worker_has_no_connection_left(
    serve, runtime, transactional_db, settings, monkeypatch
):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 0)
    monkeypatch.setattr(listing, "LOCAL_WAIT_S", 0.0)
    server = entered(serve(tools=[GOOD]), settings)
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, server.problem) == ("down", "Too many servers are in use at the moment.")


@contextmanager
def longest_callbacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Yields the seconds of processor time for which each callback has held its loop; other load does not change them."""
    seconds: list[float] = []
    run = asyncio.Handle._run

    def timed(self: asyncio.Handle) -> None:
        began = time.thread_time()
        try:
            run(self)
        finally:
            seconds.append(time.thread_time() - began)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    gc.disable()  # of all that the tests have left
    try:
        yield seconds
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("result", "refusal"),
    [
        ({"content": [{}] * 1_000_000}, "more than 50,000 values"),
        ({"content": [{}] * 24_000}, ""),
        ({"content": [], "structuredContent": {"rows": [[0]] * 16_000}}, ""),
        ({"content": [{"type": "text", "text": "x" * 4_000_000}]}, ""),
        ({"content": [{"type": "text", "text": '"' * 1_500_000}]}, ""),
    ],
    ids=["a million values", "empty blocks", "rows", "text", "quotes"],
)
async def test_no_answer_holds_the_loop_up_for_a_tenth_of_a_second(
    client, serve, monkeypatch, result, refusal
):
    server = serve(tools=[GOOD], results={"flood": result})
    assert (await client.call(server, "good")).text == "good"
    with longest_callbacks(monkeypatch) as seconds:
        with pytest.raises(CallLost, match=refusal) if refusal else nullcontext():
            await client.call(server, "flood")
        assert (await client.call(server, "good")).text == "good"
    assert max(seconds) < 0.1
