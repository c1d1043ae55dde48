"""A program asks in the background, is told by a webhook that its answer has ended, and reads it, over real processes."""

from collections.abc import Iterator
from signal import SIGKILL
from typing import Any

import httpx2
import openai
import psycopg
import pytest

from tests.e2e.test_openai_approvals import ask_rest, reply, requests_of
from tests.stack import Stack
from tests.webhook_receiver import Received, Receiver, receiving

pytestmark = pytest.mark.e2e
LIMIT_S = 60


@pytest.fixture
def receiver(stack: Stack) -> Iterator[Receiver]:
    with receiving(stack.mcp_port) as receiver:
        yield receiver


@pytest.fixture
def create_webhook(stack: Stack, client: openai.OpenAI) -> Iterator[Any]:
    """Creates a webhook of alice and returns its secret; it is deleted after the test."""
    address, headers = f"{stack.base_url}/api/webhooks/", {"Authorization": f"Token {client.api_key}"}
    with httpx2.Client(headers=headers, timeout=30, trust_env=False) as api:

        def create(url: str) -> str:
            return str(api.post(address, json={"url": url}).raise_for_status().json()["secret"])

        yield create
        for row in api.get(address).json():
            api.delete(f"{address}{row['id']}/").raise_for_status()


def ask_in_background(stack: Stack, client: openai.OpenAI) -> Any:
    stack.upstream.reply({"text": "The Moon pulls."})
    return client.responses.create(model="beta", input="Why two tides?", background=True)


def unwrap(client: openai.OpenAI, received: Received, secret: str) -> Any:
    return client.webhooks.unwrap(received.body, received.headers, secret=secret)


def test_a_program_is_told_of_its_response_and_reads_it(
    stack: Stack, client: openai.OpenAI, create_webhook: Any, receiver: Receiver
) -> None:
    secret = create_webhook(f"{receiver.url}/204")
    created = ask_in_background(stack, client)
    event = unwrap(client, receiver.received.get(timeout=LIMIT_S), secret)
    assert (event.type, event.data.id) == ("response.completed", created.id)
    assert client.responses.retrieve(event.data.id).output_text == "The Moon pulls."


def test_an_event_is_delivered_although_the_worker_that_delivers_it_is_killed(
    stack: Stack, client: openai.OpenAI, create_webhook: Any, receiver: Receiver
) -> None:
    secret = create_webhook(f"{receiver.url}/wait/204")
    created = ask_in_background(stack, client)
    first = receiver.received.get(timeout=LIMIT_S)
    stack.signal("llm", SIGKILL)
    receiver.gate.set()
    # As if the minute had passed after which a process that has claimed a delivery counts as dead.
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        connection.execute("UPDATE chat_webhookdelivery SET next_attempt_at = now()")
    stack.start("llm")
    second = receiver.received.get(timeout=LIMIT_S)
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert unwrap(client, second, secret).data.id == created.id


@pytest.fixture
def clock(stack: Stack, client: openai.OpenAI) -> Iterator[str]:
    """An agent whose calls of current_time need an approval."""
    ask_rest(
        stack, client.api_key, "POST", "agents/", {"name": "Clock", "prompt": "", "tools": ["current_time"]}
    )
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("INSERT INTO chat_toolpolicy (name, approval) VALUES ('current_time', 'ask')")
        yield "agent/clock"
        connection.execute("DELETE FROM chat_toolpolicy WHERE name = 'current_time'")


def test_a_program_decides_about_calls_of_which_it_is_told(
    stack: Stack, client: openai.OpenAI, create_webhook: Any, receiver: Receiver, clock: str
) -> None:
    secret = create_webhook(f"{receiver.url}/204")
    stack.upstream.reply({"call": {"name": "current_time", "arguments": {}}}, after_tools=0, times=1)
    stack.upstream.reply({"text": "It is late."}, after_tools=1)
    asked = client.responses.create(model=clock, input="How late is it?", background=True)
    event = unwrap(client, receiver.received.get(timeout=LIMIT_S), secret)
    assert (event.type, event.data.id) == ("response.completed", asked.id)
    [request] = requests_of(client.responses.retrieve(asked.id))
    answered = client.responses.create(
        input=[reply(request, approve=True)], previous_response_id=asked.id, background=True
    )
    event = unwrap(client, receiver.received.get(timeout=LIMIT_S), secret)
    assert (event.type, event.data.id) == ("response.completed", answered.id)
    assert client.responses.retrieve(answered.id).output_text == "It is late."
