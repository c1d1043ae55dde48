"""PgBouncer in transaction mode between every process and Postgres, with the settings of docs/operations.md for it."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client, Frame, Socket
from tests.faults.documented_rights import PATIENCE_S, expect_file_read, start_everything
from tests.faults.pgbouncer import in_transaction_mode
from tests.faults.test_compression import FILLER, MODEL, SUMMARY
from tests.instance import ROOT
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack, constants, procfile
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

# Fewer than there are processes, so that they share sessions.
SESSIONS = 4
DOCUMENTED = {"STATEMENT_TIMEOUT": "0"}
# The transaction has the session that the cursor was opened in.
CURSOR_AND_TRANSACTION = """
import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
names = get_user_model().objects.order_by("username").values_list("username", flat=True).iterator(chunk_size=1)
first = next(names)
with psycopg.connect(settings.DATABASE_URL) as other:
    other.execute("SELECT 1")
    print(first, *names)
"""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """Migrated past the pooler; starts nothing."""
    services = Services().start()
    with (
        Upstream() as upstream,
        SearchServer() as searching,
        in_transaction_mode(services, tmp_path, SESSIONS) as url,
    ):
        stack = Stack(services, upstream, searching)
        stack.prepare()
        stack.manage("shell", "-v", "0", "-c", MODEL)
        stack.environment |= DOCUMENTED | {"DATABASE_URL": url}
        yield stack
        print({name: stack.log(name)[-3000:] for name in stack.lines})
        stack.stop()
    services.stop()


async def test_whole_turns_pass_through_a_pooler_in_transaction_mode(stack: Stack) -> None:
    """Answers, a stopped one, a file, a summary; and those of a worker that is killed go on in another one."""
    stack.upstream.reply({"text": "Counted." + FILLER}, model="small")
    stack.upstream.reply({"text": SUMMARY}, stream=False)
    stack.upstream.reply({"text": "Half"}, {"wait": "the end"}, {"text": ", whole"}, contains="Wait")
    await start_everything(stack)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        stopped = await begin(alice, socket, session)
        await alice.call("POST", f"runs/{stopped}/cancellation/", status=202, json={})
        assert (await socket.ended(stopped)).stop_reason == "user_cancelled"
        await expect_file_read(alice)
        taken_over = await begin(alice, socket, session)
        stack.signal("llm", signal.SIGKILL)
        stack.start("llm")
        stack.upstream.release("the end")
        assert (await socket.ended(taken_over)).text == "Half, whole"
    async with Client.login(stack.base_url, "bob", "bob") as bob, bob.socket() as socket:
        await expect_summary(bob, socket)
    logs = "".join(map(stack.log, stack.lines))
    assert "Traceback" not in logs
    assert "prepared statement" not in logs


async def begin(client: Client, socket: Socket, session: Frame) -> str:
    run: str = (await client.ask(session, "Wait"))["runs"][0]["id"]
    await socket.showing(run, "Half")
    return run


async def expect_summary(client: Client, socket: Socket) -> None:
    session = await client.new_session()
    await socket.subscribe(session["id"])
    async with asyncio.timeout(PATIENCE_S):
        while not any(frame["status"] == "done" for frame in socket.of_type("compression")):
            run = (await client.ask(session, "Count" + FILLER, models=["small"]))["runs"][0]["id"]
            assert (await socket.ended(run)).stop_reason == "finished"


def test_rows_are_read_whole_while_others_use_the_session_of_their_cursor(stack: Stack) -> None:
    assert stack.manage("shell", "-v", "0", "-c", CURSOR_AND_TRANSACTION) == "alice bob carol root\n"


def test_processes_that_prepare_statements_say_so_and_end(stack: Stack) -> None:
    environment = stack.environment | constants(PREPARE_STATEMENTS=True)
    for command in procfile().values():
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {command}"], cwd=ROOT, env=environment,
            capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == 78, said
        assert said.startswith("DATABASE_URL: ")
        assert "set STATEMENT_TIMEOUT=0" in said
        assert len(said.splitlines()) == 1
