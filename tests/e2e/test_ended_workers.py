"""A worker that ends by itself, or is killed, is missed: by its log, /metrics and `turnwire doctor`."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest
from celery import Celery

from tests.e2e.ending_tasks import EXIT, FAIL
from tests.stack import Stack, procfile

pytestmark = pytest.mark.e2e

QUEUE = "ending"
ADD_MODEL = f"""
from chat.models import ModelConfig
ModelConfig.objects.create(name="{QUEUE}", queue="{QUEUE}", base_url="http://127.0.0.1:9/v1", context_window=8000)
"""
DELETE_MODEL = f"from chat.models import ModelConfig; ModelConfig.objects.get(name='{QUEUE}').delete()"
MISSED = f"no worker reads the queue {QUEUE}: what is in it waits"


@pytest.fixture(scope="module")
def model(running_stack: Stack) -> Iterator[None]:
    """The only model of the queue. A process that adds it takes longer than the tests do."""
    running_stack.manage("shell", "-v", "0", "-c", ADD_MODEL)
    yield
    running_stack.manage("shell", "-v", "0", "-c", DELETE_MODEL)


@pytest.fixture
def broker(model: None, stack: Stack) -> Iterator[Celery]:
    """The broker of the stack, which has a worker of a queue of its own."""
    command = f"{procfile()['llm']} --include tests.e2e.ending_tasks"
    stack.start(command, "llm.ending", {"LLM_QUEUES": QUEUE})
    with Celery(broker=stack.environment["REDIS_URL"], set_as_current=False) as app:
        stack.upstream.wait_for(lambda: workers(stack) == 1)
        yield app
        if "llm.ending" in stack.processes:
            stack.end("llm.ending")
        # A worker that ends returns what it has not finished.
        with app.connection_for_write() as connection:
            connection.default_channel.queue_purge(QUEUE)


def workers(stack: Stack) -> int | None:
    """How many workers read the queue, by /metrics."""
    told = httpx2.get(f"{stack.base_url}/metrics", timeout=10, trust_env=False).text
    name = f'turnwire_queue_workers{{queue="{QUEUE}"}} '
    found = [line.removeprefix(name) for line in told.splitlines() if line.startswith(name)]
    return int(float(found[0])) if found else None


def diagnosis(stack: Stack) -> str:
    return subprocess.run(
        [sys.executable, "-m", "config.doctor"], cwd=stack.code, env=stack.environment, stdout=subprocess.PIPE,
        text=True, check=False,
    ).stdout  # fmt: skip


def test_a_worker_whose_consumer_fails_says_so_and_is_missed(stack: Stack, broker: Celery) -> None:
    broker.send_task(FAIL, queue=QUEUE)
    assert stack.wait_for_exit("llm.ending", 60) == 1
    said = stack.log("llm.ending")
    assert "AttributeError: a fault in the consumer" in said
    assert said.count("the worker ends with status 1, and nobody told it to") == 1
    stack.upstream.wait_for(lambda: workers(stack) == 0)
    assert MISSED in diagnosis(stack)


def test_a_killed_worker_is_missed(stack: Stack, broker: Celery) -> None:
    assert MISSED not in diagnosis(stack)
    stack.signal("llm.ending", signal.SIGKILL)
    stack.upstream.wait_for(lambda: workers(stack) == 0)
    assert MISSED in diagnosis(stack)


def test_an_exit_in_the_thread_of_a_task_is_logged_and_ends_no_worker(stack: Stack, broker: Celery) -> None:
    before = len(stack.log("llm.ending"))
    broker.send_task(EXIT, queue=QUEUE)
    stack.upstream.wait_for(lambda: "SystemExit: 3" in stack.log("llm.ending")[before:])
    assert "the task has left its thread, and its message is delivered again" in stack.log("llm.ending")
    assert workers(stack) == 1
