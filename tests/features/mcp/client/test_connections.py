"""Connections to MCP servers, over both transports to real servers: what calls answer, and what becomes of those that fail."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from features.mcp.client.configuration import Answer, CallLost, Configuration, ServerUnavailable
from tests.dot import DOT
from tests.features.mcp.client.client import stdio, until
from tests.instance import ROOT, free_port
from tests.preloaded import Preloaded

pytestmark = [pytest.mark.e2e]


@pytest.fixture
def over_stdio(journal: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setenv("WORKER_SECRET", "of the worker")
    return stdio("-m", "tests.mcp_server", "stdio")


@pytest.fixture
def preloaded(over_stdio: Configuration, preloaded_server: Preloaded) -> Configuration:
    """As over_stdio, and started sooner."""
    return over_stdio._replace(command=tuple(preloaded_server.command("tests.mcp_server", "stdio")))


@pytest.fixture
def over_http(journal: Path, settings: Any) -> Iterator[Configuration]:
    port = free_port()
    settings.URL_ALLOWED_HOSTS = frozenset({f"127.0.0.1:{port}"})
    command = [sys.executable, "-m", "tests.mcp_server", "http", str(port)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if "Uvicorn running" in line:
                break
        yield Configuration("id", "1", "tests", (), f"http://127.0.0.1:{port}/mcp", (), ())
        process.kill()


@pytest.fixture(params=["preloaded", pytest.param("over_http", marks=pytest.mark.full)])
def server(request: pytest.FixtureRequest) -> Configuration:
    found: Configuration = request.getfixturevalue(request.param)
    return found


async def test_the_tools_are_listed_and_calls_answer_with_what_the_model_reads(client, server, journal):
    listed = await client.connections.list_tools(server)
    hints = {tool.name: bool(tool.annotations and tool.annotations.read_only_hint) for tool in listed.tools}
    assert (hints["echo"], hints["write"]) == (True, False)
    assert await client.call(server, "echo", text="Flut") == Answer("echo: Flut")
    assert '"sum": 3' in (await client.call(server, "add", a=1, b=2)).text
    picture = await client.call(server, "dot")
    assert picture == Answer("(An image of 70 bytes, image/png.)", images=(DOT,))
    assert (await client.call(server, "fail")).is_error
    assert (await client.call(server, "nothing")).is_error
    await client.call(server, "steps")
    assert client.steps == [(0.0, 3.0, "step 0"), (1.0, 3.0, "step 1"), (2.0, 3.0, "step 2")]
    # The server learns the key of the call, the same if it is made again.
    await client.call(server, "write", text="once")
    assert journal.read_text() == "once the key\n"


async def test_a_server_is_given_the_named_variables_of_the_worker_and_no_others(client, over_stdio):
    assert (await client.call(over_stdio, "secret", name="WORKER_SECRET")).text == "not set"
    shown = over_stdio._replace(env=(*over_stdio.env, ("TOKEN", "WORKER_SECRET")))
    assert (await client.call(shown, "secret", name="TOKEN")).text == "of the worker"
    with pytest.raises(ServerUnavailable) as refused:
        await client.call(over_stdio._replace(env=(("TOKEN", "MISSING"),)), "echo", text="")
    assert "no environment variable MISSING" in refused.value.detail
    assert "MISSING" not in str(refused.value)


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server_and_others_go_on(client, server, journal):
    waiting = asyncio.create_task(client.call(server, "wait"))
    await until(lambda: "waiting" in journal.read_text())
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await client.call(server, "echo", text="still here") == Answer("echo: still here")
    await until(lambda: "cancelled" in journal.read_text())


async def test_a_list_that_changes_is_told(client, server):
    await client.call(server, "grow")
    await until(lambda: client.changed)
    assert "grown" in {tool.name for tool in (await client.connections.list_tools(server)).tools}


async def test_an_answer_that_is_too_large_ends_its_call_and_no_later_one(client, server):
    assert len((await client.call(server, "flood", megabytes=1)).text) > 100_000
    with pytest.raises(CallLost, match="more than 4 MiB"):
        await client.call(server, "flood", megabytes=6)
    assert await client.call(server, "echo", text="again") == Answer("echo: again")


async def test_a_server_that_ends_during_a_call_is_started_again_for_the_next(client, over_stdio, journal):
    with pytest.raises(CallLost, match="The server has ended"):
        await client.call(over_stdio, "crash")
    assert await client.call(over_stdio, "echo", text="again") == Answer("echo: again")
    assert journal.read_text() == "crashing\n"


async def test_servers_that_are_not_used_any_more_leave_no_process(client, journal):
    stubborn = stdio(
        "-c",
        "import os, signal, sys, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "pathlib.Path(os.environ['JOURNAL']).write_text(str(os.getpid())); time.sleep(1000)",
    )
    listing = asyncio.create_task(client.connections.list_tools(stubborn))
    await until(journal.read_text)
    pid = int(journal.read_text())
    os.kill(pid, 0)
    await client.connections.close()
    with pytest.raises(ServerUnavailable):
        await listing
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("while True: print('x' * 1000)", "that is no message of the protocol"),
        ("import sys; sys.exit('no such module: tides')", "has ended"),
        ("while True: print('x' * 1000, end='')", "more than 4 MiB"),
        ("import os; os.close(1); input()", "has ended"),
    ],
    ids=["writes what is no message", "ends at once", "writes an endless line", "closes its output"],
)
async def test_a_server_that_is_of_no_use_is_ended_and_says_why(client, journal, program, problem):
    with pytest.raises(ServerUnavailable, match=problem):
        await client.connections.list_tools(stdio("-S", "-c", program))


async def test_what_a_server_says_on_its_error_output_is_for_staff_alone(client, journal):
    telling = stdio("-S", "-c", "import sys; sys.exit('password=tides')")
    with pytest.raises(ServerUnavailable) as ended:
        await client.connections.list_tools(telling)
    assert ended.value.detail == "password=tides"
    with pytest.raises(ServerUnavailable) as called:
        await client.call(telling, "echo", text="")
    assert "tides" not in str(called.value)


async def test_a_server_runs_nothing_that_was_put_into_the_temporary_folder(
    client, journal, monkeypatch, tmp_path
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "planted.py").write_text("raise SystemExit('it ran')")
    with pytest.raises(ServerUnavailable) as ended:
        await client.connections.list_tools(stdio("-m", "planted"))
    assert "No module named planted" in ended.value.detail


async def test_a_program_that_is_not_there_is_said_so(client, journal):
    missing = stdio()._replace(command=("no-such-program",))
    with pytest.raises(ServerUnavailable) as refused:
        await client.connections.list_tools(missing)
    assert "No such file" in refused.value.detail


async def test_however_often_a_list_changes_it_is_told_once_in_a_while(client):
    for _ in range(100):
        client.connections._on_list_changed("id")
    await until(lambda: client.changed)
    client.connections._on_list_changed("id")
    await asyncio.sleep(0)
    assert client.changed == ["id"]


async def test_a_private_address_is_not_asked(client, over_http, settings):
    settings.URL_ALLOWED_HOSTS = frozenset()
    with pytest.raises(ServerUnavailable, match="url_address_blocked"):
        await client.connections.list_tools(over_http)
