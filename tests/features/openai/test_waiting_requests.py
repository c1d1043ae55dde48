"""A request that waits for its answer holds no database connection and no slot of short requests."""

import asyncio
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from knox.models import AuthToken

from chat.models import Run, Session, TokenScope
from chat.protocol.states import Status
from features.openai import api, sse
from tests.asgi_requests import AsgiRequest
from tests.web.rest.test_streams import connections_in_use
from web.rest import request_slots
from web.rest.request_slots import UserSlots
from web.socket.hub import current_hub

pytestmark = pytest.mark.django_db(transaction=True)
RESPONSE = ("/v1/responses", b'{"input": "Why?", "stream": %s}')
CHAT = (
    "/v1/chat/completions",
    b'{"model": "quick", "messages": [{"role": "user", "content": "Why?"}], "stream": %s}',
)


@pytest.fixture
def token(alice: Any) -> str:
    created: str = TokenScope.objects.create_token(alice)[1]
    connection.close()
    return created


@pytest.mark.parametrize("streams", [b"true", b"false"])
@pytest.mark.parametrize(("path", "body", "status"), [(*RESPONSE, Status.QUEUED), (*CHAT, Status.STOPPED)])
async def test_it_holds_nothing_while_it_waits(
    alice: Any, token: str, path: str, body: bytes, status: Status, streams: bytes
) -> None:
    before = await sync_to_async(connections_in_use)()
    request = AsgiRequest(path, {"Authorization": f"Bearer {token}"}, body=body % streams)
    running = asyncio.create_task(request.run())
    await until(lambda: bool(current_hub().topics))
    await until(sync_to_async(lambda: connections_in_use() <= before))
    assert alice.pk not in request_slots.REQUESTS._taken
    request.leave()
    await asyncio.wait({running})
    # Who leaves a response stops nothing; who leaves a chat stops it.
    await until(sync_to_async(lambda: Run.objects.get().status == status))
    assert not current_hub().topics
    assert not sse.STREAMS._taken


@pytest.mark.parametrize("streams", [b"true", b"false"])
async def test_a_client_that_leaves_before_a_chat_is_begun_stops_it(
    token: str, monkeypatch: pytest.MonkeyPatch, streams: bytes
) -> None:
    loop = asyncio.get_running_loop()
    request = AsgiRequest(CHAT[0], {"Authorization": f"Bearer {token}"}, body=CHAT[1] % streams)
    start_chat = api.start_chat

    async def leave() -> None:
        request.leave()
        # Until the request has been cancelled.
        for _ in range(100):
            await asyncio.sleep(0)

    def start_and_leave(*args: Any) -> Run:
        run = start_chat(*args)
        asyncio.run_coroutine_threadsafe(leave(), loop).result()
        return run

    monkeypatch.setattr(api, "start_chat", start_and_leave)
    await request.run()
    assert not request.messages
    await until(sync_to_async(lambda: Run.objects.get().status == Status.STOPPED))
    assert not sse.STREAMS._taken


async def test_a_client_that_leaves_before_a_stream_is_begun_stops_it(token: str) -> None:
    class Unsent(AsgiRequest):
        async def _send(self, message: dict[str, Any]) -> None:
            self.leave()
            await asyncio.Event().wait()

    await Unsent(CHAT[0], {"Authorization": f"Bearer {token}"}, body=CHAT[1] % b"true").run()
    await until(sync_to_async(lambda: Run.objects.get().status == Status.STOPPED))
    assert not sse.STREAMS._taken


@pytest.mark.parametrize(("path", "body"), [RESPONSE, CHAT])
def test_nothing_is_started_without_a_slot(
    token: str, monkeypatch: pytest.MonkeyPatch, path: str, body: bytes
) -> None:
    client = Client()
    monkeypatch.setattr(sse, "STREAMS", UserSlots(0))
    headers = {"Authorization": f"Bearer {token}"}
    for streams in (b"true", b"false"):
        answer = client.post(path, body % streams, content_type="application/json", headers=headers)
        assert answer.status_code == 429
    assert not Session.objects.exists()


@pytest.mark.parametrize(("path", "body"), [RESPONSE, CHAT])
def test_the_slot_of_a_refused_request_and_of_an_unread_answer_is_free(
    token: str, settings: Any, path: str, body: bytes
) -> None:
    client = Client()
    headers = {"Authorization": f"Bearer {token}"}
    ask = partial(client.post, path, body % b"true", content_type="application/json", headers=headers)
    answer = ask()
    assert sum(sse.STREAMS._taken.values()) == 1
    answer.close()
    settings.MAX_RUNS_PER_USER = 0
    assert ask().status_code == 429
    assert not sse.STREAMS._taken


@pytest.mark.parametrize(("path", "body"), [RESPONSE, CHAT])
async def test_a_token_that_is_deleted_ends_its_streams(
    token: str, monkeypatch: pytest.MonkeyPatch, path: str, body: bytes
) -> None:
    monkeypatch.setattr(sse, "CHECK_S", 0.05)
    request = AsgiRequest(path, {"Authorization": f"Bearer {token}"}, body=body % b"true")
    running = asyncio.create_task(request.run())
    await until(lambda: any(message.get("body") == sse.COMMENT for message in request.messages))
    assert not running.done()
    await sync_to_async(AuthToken.objects.all().delete)()
    await until(running.done)
    assert b'"code":"stream_unavailable"' in request.messages[-2]["body"]


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while True:
            holds = condition()
            if await holds if asyncio.iscoroutine(holds) else holds:
                return
            await asyncio.sleep(0.01)
