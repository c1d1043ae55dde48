"""A question for a model server that takes one request at a time waits for its turn, says so, and can be stopped."""

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.models import ModelConfig
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from tests.llm_worker.outcomes import ended


@pytest.fixture
def busy(ask, deliver, upstream):
    """The first question, which its server is answering until `first` is released."""
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, max_requests=1)
    upstream.reply({"wait": "first"}, {"text": "So."}, contains="First?")
    upstream.reply({"text": "Therefore."})
    [run] = ask("First?")
    delivery = deliver(run)
    upstream.wait_for(lambda: upstream.requests)
    return run, delivery


def place(run):
    return sync_redis().get(f"turnwire:run:{run.pk}:waits")


def test_it_is_answered_when_the_server_is_free(busy, ask, deliver, upstream):
    first, delivery = busy
    [second] = ask("Second?")
    waiting = deliver(second)
    upstream.wait_for(lambda: place(second))
    assert place(second) == b"1"
    assert len(upstream.requests) == 1
    upstream.release("first")
    assert (delivery.result(60), waiting.result(60)) == (True, True)
    ended(first, Status.COMPLETED, text="So.")
    ended(second, Status.COMPLETED, text="Therefore.")
    assert place(second) is None


def test_it_can_be_stopped_while_it_waits(busy, ask, deliver, upstream):
    _, delivery = busy
    [second] = ask("Second?")
    waiting = deliver(second)
    upstream.wait_for(lambda: place(second))
    stop_run(second.pk)
    assert waiting.result(60)
    ended(second, Status.STOPPED)
    assert place(second) is None
    upstream.release("first")
    delivery.result(60)
    assert len(upstream.requests) == 1
