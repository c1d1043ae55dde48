"""A real RabbitMQ as the broker, with a user that has the rights of docs/operations.md and no others."""

import asyncio
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.e2e.client import Client
from tests.faults.documented_rights import PASSWORD, PATIENCE_S, expect_file_read, start_everything
from tests.faults.rabbitmq import RabbitMQ
from tests.instance import ROOT
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import DEFAULT, Stack
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

SLOW = "from chat.models import ModelConfig; ModelConfig.objects.filter(name='beta').update(queue='slow')"

# As many runs as let threads of tasks and the main thread meet in each of these reconnects.
HELD = 20
RECONNECTS = 3


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMQ]:
    with RabbitMQ.running(tmp_path_factory.mktemp("rabbitmq")) as broker:
        broker.control("add_vhost", "turnwire")
        broker.control("add_user", "turnwire", PASSWORD)
        yield broker


@pytest.fixture
def stack(broker: RabbitMQ) -> Iterator[Stack]:
    """Prepared; starts nothing."""
    services = Services().start()
    with Upstream() as upstream, SearchServer() as searching:
        stack = Stack(services, upstream, searching)
        user = f"turnwire:{quote(PASSWORD, safe='')}"
        stack.environment["CELERY_BROKER_URL"] = f"amqp://{user}@127.0.0.1:{broker.port}/turnwire"
        stack.prepare()
        yield stack
        print({name: stack.log(name)[-3000:] for name in stack.lines})
        stack.stop()
    services.stop()


def grant_documented_rights(broker: RabbitMQ, more: str = "") -> None:
    """more: names of queues beside the packaged ones."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(names=.*?)```", page, re.DOTALL)
    broker.shell(commands.replace("(llm|", f"({more}llm|"))


async def answered(stack: Stack, model: str) -> str:
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        return await answer(alice, "Hello", models=[model])


async def answer(client: Client, text: str, **body: Any) -> str:
    """Ask in a session of its own."""
    async with client.socket() as socket:
        session = await client.new_session()
        await socket.subscribe(session["id"])
        turn = await client.ask(session, text, **body)
        return (await socket.ended(turn["runs"][0]["id"])).text


async def test_the_documented_rights_suffice(broker: RabbitMQ, stack: Stack) -> None:
    """For every process, an answer, a file and the launcher's question for workers."""
    grant_documented_rights(broker)
    await start_everything(stack)
    assert "Hello" in await answered(stack, "alpha")
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        await expect_file_read(alice)
    assert "ACCESS_REFUSED" not in "".join(map(stack.log, stack.processes)) + broker_log(broker)


async def test_a_queue_without_rights_ends_its_worker_and_is_one_line_of_others(
    broker: RabbitMQ, stack: Stack
) -> None:
    """Runs of other queues go on, and those of this one, too, once the rights are given."""
    grant_documented_rights(broker)
    stack.manage("shell", "-v", "0", "-c", SLOW)
    for name in DEFAULT:
        stack.start(name)
    command = "python -m celery -q -A config worker -P threads -c 2 -Q slow -n slow@%h --without-gossip --without-mingle"
    refused = await asyncio.to_thread(
        subprocess.run, ["/bin/sh", "-c", command], cwd=ROOT, env=stack.environment,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert refused.returncode == 78
    assert refused.stderr.splitlines()[-1].startswith("CELERY_BROKER_URL: its user needs more rights")
    stack.wait_until_ready()
    waiting = asyncio.create_task(answered(stack, "beta"))
    await until(lambda: "ACCESS_REFUSED" in stack.log("web") and "refuses" in stack.log("sweeper"))
    assert "Hello" in await answered(stack, "alpha")
    assert "Traceback" not in stack.log("web") + stack.log("sweeper")
    grant_documented_rights(broker, "slow|")
    stack.start(command, "slow")
    assert "Hello" in await waiting
    assert stack.processes["sweeper"].poll() is None


async def test_a_worker_with_runs_in_work_consumes_after_each_reconnect(
    broker: RabbitMQ, stack: Stack
) -> None:
    """Messages of these runs are delivered again and acknowledged at once, and new runs are answered beside them."""
    grant_documented_rights(broker)
    for name in DEFAULT:
        stack.start(name)
    stack.wait_until_ready()
    stack.upstream.reply({"text": "Held, "}, {"wait": "the end"}, {"text": "whole."}, contains="Wait")
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        held = [asyncio.create_task(answer(alice, "Wait")) for _ in range(HELD)]
        await until(lambda: len(stack.upstream.requests) == HELD)
        for _ in range(RECONNECTS):
            broker.control("close_all_connections", "-p", "turnwire", "a test")
            await until(lambda: queue(broker, "llm") == ("1", "0"))
            assert "Hello" in await answer(alice, "Hello")
        stack.upstream.release("the end")
        assert set(await asyncio.gather(*held)) == {"Held, whole."}


def queue(broker: RabbitMQ, name: str) -> tuple[str, ...]:
    """Its number of consumers and that of its messages, with those that are not acknowledged."""
    rows = broker.control("list_queues", "-p", "turnwire", "name", "consumers", "messages").splitlines()
    return next(tuple(row.split()[1:]) for row in rows if row.startswith(f"{name}\t"))


async def until(condition: Callable[[], Any]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit
        await asyncio.sleep(0.1)


def broker_log(broker: RabbitMQ) -> str:
    logs = Path(broker.environment["RABBITMQ_LOG_BASE"]).glob("*.log")
    return "".join(path.read_text(errors="replace") for path in logs)
