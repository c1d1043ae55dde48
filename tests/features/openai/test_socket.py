"""OpenAI's websocket mode, with a real server on a loopback port. The tests act as the worker."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connection
from knox.models import AuthToken
from websockets.exceptions import InvalidStatus

from chat.events import access
from chat.infrastructure.redis_client import async_redis
from chat.log.publisher import Publisher
from chat.models import Agent, Run, Scope, Session, TokenScope
from chat.protocol.states import Status
from features.openai import socket, socket_turns, sse
from features.openai.response_stream import EncodedEvent
from features.openai.socket_frames import EventOutbox
from tests import factories, sockets
from tests.features.openai.test_waiting_requests import until
from tests.matrix import asyncapi
from tests.web.socket.test_conversation import Worker
from web.socket.hub import current_hub
from web.socket.outbox import MAX_PACKETS
from web.socket.rate_limit import BURST, MAX_REJECTED

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/v1/responses"
Dial = Callable[[str], AbstractAsyncContextManager[sockets.Client]]
# A number that no machine word holds is stored, and comes back.
TOOL = {"type": "function", "name": "tide", "parameters": {"properties": {"day": {"maximum": 10**400}}}}


@pytest_asyncio.fixture
async def address() -> AsyncIterator[str]:
    async with sockets.web() as address:
        yield address


@pytest_asyncio.fixture
async def publisher(address: str) -> AsyncIterator[Publisher]:
    publisher = Publisher(async_redis())
    await publisher.start()
    yield publisher
    await publisher.close()


@pytest.fixture
def token(alice: Any) -> str:
    created: str = TokenScope.objects.create_token(alice, Scope.CHAT)[1]
    connection.close()
    return created


@pytest.fixture
def dial(address: str) -> Dial:
    return lambda token: sockets.socket(address, PATH, Authorization=f"Bearer {token}")


def check_described(events: list[dict[str, Any]]) -> None:
    for event in events:
        message = "response_error" if event["type"] == "error" else "response_event"
        assert asyncapi.faults_of(message, event) == [], event


async def receive(client: sockets.Client) -> dict[str, Any]:
    """Return the next frame, which is one event, as it is described."""
    event: dict[str, Any] = json.loads(await asyncio.wait_for(client.connection.recv(), sockets.LIMIT_S))
    check_described([event])
    return event


async def until_type(client: sockets.Client, *types: str) -> dict[str, Any]:
    while (event := await receive(client))["type"] not in types:
        assert event["type"] != "error", event
    return event


async def until_error(client: sockets.Client) -> dict[str, Any]:
    while (event := await receive(client))["type"] != "error":
        assert event["type"] != "response.completed", event
    return event


async def create(client: sockets.Client, **body: Any) -> None:
    await client.say(type="response.create", **{"model": "quick", "input": "Why two tides?", **body})


async def begun(client: sockets.Client, **body: Any) -> dict[str, Any]:
    """Ask for a response, and return it as it has begun."""
    await create(client, **body)
    response: dict[str, Any] = (await until_type(client, "response.created"))["response"]
    return response


async def refused(
    client: sockets.Client, status: int, code: str, param: str | None, lane: Any = None
) -> None:
    event = await until_error(client)
    assert (event["status"], event.get("stream_id")) == (status, lane), event
    assert (event["error"]["code"], event["error"]["param"]) == (code, param)
    assert event["error"].keys() >= {"type", "message"}


async def work(publisher: Publisher, response: dict[str, Any]) -> Worker:
    """Claim the run of a response, as its worker."""
    run = await sync_to_async(Run.objects.claim)(UUID(response["id"][5:37]), owner=1)
    assert run
    return Worker(publisher, run, str(UUID(response["conversation"]["id"].removeprefix("conv_"))))


async def finish(publisher: Publisher, response: dict[str, Any], text: str = "The Moon pulls.") -> None:
    worker = await work(publisher, response)
    await worker.say(text)
    await worker.end(text)


@pytest.mark.parametrize("is_stored", [True, False])
async def test_turns_of_one_socket_continue_each_other(
    dial: Dial, token: str, publisher: Publisher, is_stored: bool
) -> None:
    async with dial(token) as client:
        first = await begun(client, store=is_stored, stream=True)
        await finish(publisher, first)
        done = (await until_type(client, "response.completed"))["response"]
        assert (done["id"], done["store"]) == (first["id"], is_stored)
        assert done["output"][0]["content"][0]["text"] == "The Moon pulls."
        more = {} if is_stored else {"store": False}
        second = await begun(client, input="And the Sun?", previous_response_id=first["id"], **more)
        assert second["previous_response_id"] == first["id"]
        assert (second["conversation"], second["store"]) == (first["conversation"], is_stored)
        await finish(publisher, second)
        await until_type(client, "response.completed")
        async with dial(token) as other:
            # What is not stored is continued by its own connection, from its end.
            await create(client, previous_response_id=first["id"], **more)
            await create(other, previous_response_id=second["id"], **more)
            if is_stored:
                for socket_of in (client, other):
                    await until_type(socket_of, "response.created")
            else:
                code = "previous_response_not_found"
                for socket_of in (client, other):
                    await refused(socket_of, 400, code, "previous_response_id")
                await create(client, previous_response_id=second["id"], store=True)
                await refused(client, 400, "invalid_value", "store")
                await begun(client, previous_response_id=second["id"])
    assert await sync_to_async(Session.objects.exclude(temporary_until=None).count)() == (not is_stored)
    await until(lambda: not sse.STREAMS._taken and not current_hub().topics)


async def test_responses_of_a_lane_follow_each_other_and_those_of_several_do_not(
    dial: Dial, token: str, publisher: Publisher
) -> None:
    async with dial(token) as client:
        first = await begun(client, stream_id="a")
        await create(client, input="Next", stream_id="a")
        await create(client, input="", stream_id="a")
        other = await begun(client, stream_id="b")
        third = await begun(client)
        assert await sync_to_async(Run.objects.count)() == 3
        for response, lane in ((third, None), (other, "b"), (first, "a")):
            await finish(publisher, response)
            done = await until_type(client, "response.completed")
            assert (done["response"]["id"], done.get("stream_id")) == (response["id"], lane)
        created = await until_type(client, "response.created")
        assert created["stream_id"] == "a"
        await finish(publisher, created["response"])
        await until_type(client, "response.completed")
        await refused(client, 400, "message_empty", "input", "a")


async def test_what_is_not_generated_is_told_with_the_response_that_continues_it(
    dial: Dial, token: str, publisher: Publisher
) -> None:
    async with dial(token) as client:
        items = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        await create(client, generate=False, input=items, tools=[TOOL], store=False)
        events = [await receive(client) for _ in range(3)]
        assert [event["type"] for event in events] == [
            f"response.{kind}" for kind in ("created", "in_progress", "completed")
        ]
        warmed = events[-1]["response"]
        assert (warmed["status"], warmed["output"]) == ("completed", [])
        assert warmed["tools"][0].items() >= TOOL.items()
        assert not await sync_to_async(Run.objects.exists)()
        response = await begun(
            client, input="Really?", previous_response_id=warmed["id"], tools=[TOOL], store=False
        )
        assert response["tools"][0].items() >= TOOL.items()
        assert (response["previous_response_id"], response["instructions"]) == (None, "Be brief.")
        run = await sync_to_async(Run.objects.select_related("turn__user_message").get)()
        assert run.turn.user_message.text == "Why?\n\nReally?"
        await create(client, generate=False, model="nothing", stream_id="a")
        await refused(client, 404, "model_not_found", "model", "a")


async def test_of_what_is_not_generated_the_oldest_is_forgotten_where_there_is_no_room(
    dial: Dial, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "MAX_BYTES", 2_000)
    async with dial(token) as client:
        warmed = []
        for lane, text in (("a", "x" * 1_400), ("b", "\u6f6e" * 250)):
            await create(client, generate=False, input=text, stream_id=lane, temperature=0)
            warmed.append((await until_type(client, "response.completed"))["response"])
        assert [response["temperature"] for response in warmed] == [0, 0]
        await create(client, previous_response_id=warmed[0]["id"])
        await refused(client, 400, "previous_response_not_found", "previous_response_id")
        await begun(client, previous_response_id=warmed[1]["id"])


async def test_starts_count_until_they_end_also_when_their_connection_has_gone(
    dial: Dial, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins, ends, running = threading.Semaphore(0), threading.Event(), []

    def wait_and_start(request: Any) -> Any:
        running.append(request)
        begins.release()
        assert ends.wait(sockets.LIMIT_S)
        return socket_turns.start(request)

    monkeypatch.setattr(socket, "start", wait_and_start)
    try:
        for _ in range(2):
            async with dial(token) as client:
                for lane in ("a", "b", "c"):
                    await create(client, stream_id=lane)
                if not running:
                    for _ in range(socket.STARTS_OF_USER):
                        await asyncio.to_thread(begins.acquire, timeout=sockets.LIMIT_S)
                # Answered by the server behind the frames before it.
                await client.say(type="ping")
                await refused(client, 400, "unknown_type", "type")
        assert len(running) == socket.STARTS_OF_USER
    finally:
        ends.set()
    await until(lambda: not sse.STREAMS._taken and not current_hub().topics)


async def test_a_client_that_reads_nothing_loses_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "NOT_READ_S", 0.01)
    consumer, closed = socket.ResponsesConsumer(), []
    consumer.outbox, consumer.sending = EventOutbox(), asyncio.Lock()
    monkeypatch.setattr(consumer, "_close_slow_socket", lambda: closed.append(True))
    event, lane = EncodedEvent({}, b"{}"), socket_turns.Lane("")
    while not closed:
        await consumer._send_event(event, lane)
    lines = "\n".join(consumer.outbox.pop_frames()).split("\n")
    await consumer._send_event(event, lane)
    assert (len(lines) <= MAX_PACKETS, closed, len(consumer.outbox.pop_frames())) == (True, [True], 1)


# fmt: off
FRAMES = [
    ("{", "invalid_json", None),
    ("[1]", "invalid_type", None),
    ('{"type":"response.create","type":"response.create"}', "invalid_json", None),
    ('{"type":"response.create","input":"\\ud800"}', "invalid_characters", None),
    (b"{}", "unsupported_frame", None),
    ({}, "field_required", "type"),
    ({"type": "ping"}, "unknown_type", "type"),
    ({"type": ["response.create"]}, "unknown_type", "type"),
    ({"type": "response.create"}, "field_required", "input"),
    ({"type": "response.create", "input": "Hm", "nothing": 1}, "unknown_field", "nothing"),
    ({"type": "response.create", "input": "Hm", "background": True}, "invalid_value", "background"),
    ({"type": "response.create", "input": "Hm", "generate": 1}, "invalid_type", "generate"),
    ({"type": "response.create", "input": "Hm", "stream_id": ""}, "invalid_stream_id", "stream_id"),
    ({"type": "response.create", "input": "Hm", "stream_id": "a b"}, "invalid_stream_id", "stream_id"),
    ({"type": "response.create", "input": "Hm", "stream_id": 1}, "invalid_stream_id", "stream_id"),
    ({"type": "response.create", "input": "Hm", "previous_response_id": 1}, "invalid_type", "previous_response_id"),
    ({"type": "response.create", "input": "Hm", "top_p": 10**400}, "invalid_value", "top_p"),
    ({"type": "response.create", "generate": False, "input": "Hm", "tools": [1]}, "invalid_type", "tools.0"),
    ({"type": "response.create", "input": [{"role": "user", "content": 1}]}, "invalid_type", "input.0.content"),
]
# fmt: on


async def test_a_frame_is_refused_by_the_name_of_its_member_and_the_socket_stays(
    dial: Dial, token: str
) -> None:
    async with dial(token) as client:
        for frame, code, param in FRAMES:
            await client.connection.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))
            await refused(client, 400, code, param)
        assert not await sync_to_async(Run.objects.exists)()
        await begun(client)


# Described as they are read, and refused for what is in them.
REFUSED_INSIDE = {"input", "top_p", "tools.0", "input.0.content"}


def test_frames_that_are_refused_for_a_member_are_not_described() -> None:
    frames = [(frame, param) for frame, _, param in FRAMES if isinstance(frame, dict)]
    described = {param for frame, param in frames if not asyncapi.faults_of("response.create", frame)}
    assert described == REFUSED_INSIDE


# fmt: off
DESCRIBED = {
    "type": "response.create", "model": "quick", "input": "Why two tides?", "instructions": "Be brief.",
    "previous_response_id": None, "conversation": None, "temperature": 0.5, "top_p": 1, "max_output_tokens": 100,
    "reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": {"type": "text"}, "verbosity": "low"},
    "parallel_tool_calls": True, "metadata": {"app": "pier"}, "store": True, "stream": True, "background": False, "tools": [TOOL],
    "tool_choice": "auto", "truncation": "auto", "include": [], "max_tool_calls": 3, "client_metadata": {}, "prompt_cache_key": "k",
    "prompt_cache_options": {}, "prompt_cache_retention": "24h", "safety_identifier": "s", "service_tier": "auto",
    "stream_options": {}, "top_logprobs": 0, "user": "alice", "stream_id": "a.b-c_1", "generate": True,
}
# fmt: on


async def test_every_member_that_is_described_is_accepted(dial: Dial, token: str) -> None:
    assert DESCRIBED.keys() == asyncapi.payload(asyncapi.MESSAGES["response.create"])["properties"].keys()
    least = {"type": "response.create", "model": "quick"}
    warming = {**least, "generate": False}
    lane = {"stream_id": "other"}

    async def ask(frame: dict[str, Any], kind: str = "response.created") -> str:
        assert asyncapi.faults_of("response.create", frame) == []
        await client.say(**frame)
        event = await until_type(client, kind)
        assert event.get("stream_id") == frame.get("stream_id")
        return str(event["response"]["id"])

    async with dial(token) as client:
        await ask(warming, "response.completed")
        await ask({**dict.fromkeys(DESCRIBED), **least, "input": [{"role": "user", "content": "Why?"}]})
        await ask(DESCRIBED)
        warmed = await ask({**DESCRIBED, **warming, **lane}, "response.completed")
        await ask({**least, **lane, "previous_response_id": warmed})


async def test_what_does_not_exist_or_is_another_users_is_not_found(
    dial: Dial, token: str, publisher: Publisher
) -> None:
    bob = await sync_to_async(factories.create_user)("bob")
    _, his_token = await sync_to_async(TokenScope.objects.create_token)(bob)
    async with dial(token) as client, dial(his_token) as other:
        for is_stored in (True, False):
            response = await begun(client, store=is_stored)
            await finish(publisher, response)
            await until_type(client, "response.completed")
            for store in (True, False):
                await create(other, previous_response_id=response["id"], store=store)
                await refused(other, 400, "previous_response_not_found", "previous_response_id")
            await create(other, conversation=response["conversation"]["id"])
            await refused(other, 404, "not_found", "conversation")
        await create(client, model="nothing")
        await refused(client, 404, "model_not_found", "model")


async def test_a_token_for_an_agent_asks_that_agent_alone(dial: Dial, alice: Any) -> None:
    pilot = await sync_to_async(Agent.objects.create)(owner=alice, name="Pilot")
    _, token = await sync_to_async(TokenScope.objects.create_token)(alice, Scope.AGENT, agent=pilot)
    async with dial(token) as client:
        await create(client, model="quick")
        await refused(client, 404, "model_not_found", "model")
        assert (await begun(client, model="agent/pilot"))["model"] == "agent/pilot"


async def test_a_handshake_without_a_valid_token_is_answered_with_401(address: str, token: str) -> None:
    tokens = ("Bearer", "Bearer nonsense", "Bearer \xe9", f"Token {token}", f"Bearer {token} {token}")
    for headers in ({"Cookie": "sessionid=nonsense"}, *({"Authorization": value} for value in tokens)):
        with pytest.raises(InvalidStatus) as error:
            async with sockets.socket(address, PATH, **headers):
                pass
        answer = error.value.response
        assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/json"), headers
        assert json.loads(answer.body or b"")["error"]["code"] == "invalid_api_key"


async def test_tokens_for_reading_other_sites_and_too_many_sockets_are_refused_at_the_handshake(
    address: str, dial: Dial, alice: Any, token: str, settings: Any
) -> None:
    _, reading = await sync_to_async(TokenScope.objects.create_token)(alice, Scope.READ)
    settings.MAX_SOCKETS_PER_USER = 1
    async with dial(token) as client:
        for headers, status in (
            ({"Authorization": f"Bearer {reading}"}, 403),
            ({"Authorization": f"Bearer {token}", "Origin": "http://evil.example"}, 403),
            ({"Authorization": f"Bearer {token}"}, 429),
        ):
            with pytest.raises(InvalidStatus) as error:
                async with sockets.socket(address, PATH, **headers):
                    pass
            assert error.value.response.status_code == status
        await begun(client)


@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_token_that_is_deleted_asks_for_nothing_more_and_its_answer_goes_on(
    dial: Dial, alice: Any, token: str, publisher: Publisher, is_announced: bool
) -> None:
    async with dial(token) as client:
        worker = await work(publisher, await begun(client))
        for text in ("The ", "Moon ", "pulls"):
            await worker.say(text)
        await until_type(client, "response.output_text.delta")
        await sync_to_async(AuthToken.objects.all().delete)()
        if is_announced:
            await sync_to_async(access.announce_change)(alice.pk)
        else:
            await create(client, stream_id="next")
            await refused(client, 401, "invalid_api_key", None, "next")
        assert await client.close_code() == 4401
    run = await sync_to_async(Run.objects.get)()
    assert run.status == Status.RUNNING


async def test_a_client_that_leaves_stops_nothing_and_what_waited_is_not_asked(
    dial: Dial, token: str, publisher: Publisher
) -> None:
    async with dial(token) as client:
        await begun(client)
        await create(client, input="Next")
        await begun(client, stream_id="other")
    await until(lambda: not current_hub().topics)
    runs = await sync_to_async(lambda: list(Run.objects.values_list("status", flat=True)))()
    assert runs == [Status.QUEUED] * 2
    assert not sse.STREAMS._taken


async def test_long_frames_close_the_socket_and_many_are_refused(
    dial: Dial, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "MAX_WAITING", 2)
    monkeypatch.setattr(socket, "MAX_LANES", 1)
    async with dial(token) as client:
        await begun(client, stream_id="a")
        await create(client, stream_id="a")
        await create(client, stream_id="b")
        await refused(client, 400, "invalid_stream_id", "stream_id", "b")
        await create(client, stream_id="a")
        await create(client, stream_id="a")
        await refused(client, 429, "rate_limited", None, "a")
        await create(client, input="x" * 300_000)
        assert await client.close_code() == 1009
    async with dial(token) as client:
        for _ in range(int(BURST) + 2 * MAX_REJECTED):
            await client.connection.send("{}")
        assert await client.close_code() == 4429
        assert {event["error"]["code"] for event in client.seen} == {"field_required", "rate_limited"}
        check_described(client.seen)


async def test_a_socket_has_no_more_streams_than_its_user_may(
    dial: Dial, token: str, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse.STREAMS, "most", 1)
    async with dial(token) as client:
        first = await begun(client, stream_id="a")
        await create(client)
        event = await until_error(client)
        assert (event["status"], event["error"]["code"]) == (429, "rate_limited")
        assert int(event["error"]["headers"]["Retry-After"]) > 0
        await finish(publisher, first)
        await until_type(client, "response.completed")
        await begun(client)


async def test_a_web_server_that_ends_closes_the_socket_as_its_other_sockets(token: str) -> None:
    async with AsyncExitStack() as opened:
        async with sockets.web() as address:
            headers = {"Authorization": f"Bearer {token}"}
            client = await opened.enter_async_context(sockets.socket(address, PATH, **headers))
            await begun(client)
        assert await client.close_code() == 1012
        assert str(client.connection.close_reason).startswith("restart; retry_after_s=")
    assert (await sync_to_async(Run.objects.get)()).status == Status.QUEUED
