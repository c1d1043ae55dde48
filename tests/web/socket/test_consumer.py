"""The websocket consumer, with a real server on a loopback port."""

import asyncio
import json
import re
import uuid
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client as Browser
from knox.models import AuthToken
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from chat.models import ModelConfig, Session, TokenScope
from tests import factories, sockets

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def address():
    async with sockets.web() as address:
        yield address


@pytest.fixture
def alice(transactional_db) -> User:
    return User.objects.create_user("alice", password="a")


@pytest.fixture
def mallory(transactional_db) -> User:
    return User.objects.create_user("mallory", password="m")


@pytest.fixture
def token(alice) -> dict[str, str]:
    return {"Authorization": f"Token {AuthToken.objects.create(alice)[1]}"}


@pytest.fixture
def cookie(alice) -> dict[str, str]:
    browser = Browser()
    browser.force_login(alice)
    return {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}


@pytest.fixture
def session(alice) -> Session:
    ModelConfig.objects.create(name="model", is_default=True)
    return Session.objects.start(alice)


async def test_a_ping_is_answered_and_the_id_is_echoed(address, token):
    async with sockets.socket(address, **token) as client:
        assert await client.ask(type="ping") == {"type": "pong"}
        assert await client.ask(type="ping", id="p1") == {"type": "pong", "id": "p1"}


async def test_a_cookie_with_our_own_origin_is_a_login(address, cookie):
    async with sockets.socket(address, Origin=f"http://{address}", **cookie) as client:
        assert await client.ask(type="ping") == {"type": "pong"}


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example"]
)
async def test_a_foreign_origin_is_refused_at_the_handshake(address, cookie, origin):
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"ws://{address}/ws/", origin=origin, additional_headers=cookie, proxy=None)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Token nonsense"}, {"Cookie": "sessionid=nonsense"}]
)
async def test_without_a_login_the_socket_is_accepted_and_closed(address, headers, transactional_db):
    async with sockets.socket(address, **headers) as client:
        assert await client.close_code() == 4401


async def test_after_logout_the_next_command_closes_the_socket(address, cookie, alice, session):
    async with sockets.socket(address, Origin=f"http://{address}", **cookie) as client:
        assert (await client.ask(type="subscribe", session=str(session.pk)))["type"] == "subscribed"
        await sync_to_async(alice.set_password)("new")
        await sync_to_async(alice.save)()
        await client.say(type="subscribe", session=str(session.pk))
        assert await client.close_code() == 4401


async def test_a_daily_limit_refuses_here_as_well_and_says_until_when(address, token, session):
    await sync_to_async(factories.set_default_limits)(runs_per_day=1)
    async with sockets.socket(address, **token) as client:
        first = await client.ask(type="send", session=str(session.pk), text="One")
        refused = await client.ask(type="send", session=str(session.pk), text="Two")
        assert first["type"] == "accepted", first
        assert (refused["type"], refused["code"], refused["limit"]) == (
            "error",
            "daily_limit_reached",
            "runs_per_day",
        )
        assert (refused["used"], refused["max"]) == (1, 1)
        assert refused["resets_at"].endswith("T00:00:00Z")


async def test_a_token_for_reading_follows_and_sends_nothing(address, alice, session):
    row, token = await sync_to_async(AuthToken.objects.create)(alice)
    await sync_to_async(TokenScope.objects.create)(token=row, scope="read")
    async with sockets.socket(address, Authorization=f"Token {token}") as client:
        followed = await client.ask(type="subscribe", session=str(session.pk))
        refused = await client.ask(type="send", session=str(session.pk), text="Hello")
        assert (followed["type"], refused["code"]) == ("subscribed", "token_read_only")
        assert (await client.ask(type="ping"))["type"] == "pong"


ABSENT = str(uuid.UUID(int=7))
CURSORS = {"type": "subscribe", "session": "SESSION"}
BAD = [
    ("{", "invalid_json"),
    ("[1]", "invalid_type"),
    ('{"type":"ping","type":"ping"}', "invalid_json"),
    ('{"type":"ping","x":NaN}', "invalid_json"),
    ('{"type":"ping","id":1e400}', "invalid_json"),
    ("[" * 10_000 + "]" * 10_000, "json_too_deep"),
    ('{"type":"send","text":"\\u0000"}', "invalid_characters"),
    ('{"type":"send","text":"\\ud800"}', "invalid_characters"),
    ({}, "field_required"),
    ({"type": "nonsense"}, "unknown_type"),
    ({"type": 7}, "unknown_type"),
    ({"type": "ping", "more": 1}, "unknown_field"),
    ({"type": "ping", "id": {}}, "invalid_type"),
    ({"type": "ping", "request_id": 7}, "invalid_type"),
    ({"type": "ping", "request_id": None}, "invalid_type"),
    ({"type": "subscribe"}, "field_required"),
    ({"type": "subscribe", "session": 7}, "invalid_type"),
    ({"type": "subscribe", "session": "7"}, "invalid_id"),
    ({"type": "subscribe", "session": ABSENT}, "session_not_found"),
    (CURSORS | {"cursors": []}, "invalid_cursor"),
    (CURSORS | {"cursors": {"7": {"attempt": 1, "seq": 1}}}, "invalid_cursor"),
    (CURSORS | {"cursors": {ABSENT: 7}}, "invalid_cursor"),
    (CURSORS | {"cursors": {ABSENT: {"attempt": 1}}}, "invalid_cursor"),
    (CURSORS | {"cursors": {ABSENT: {"attempt": 1, "seq": -1}}}, "invalid_cursor"),
    (CURSORS | {"cursors": {ABSENT: {"attempt": 1, "seq": "1"}}}, "invalid_cursor"),
    (CURSORS | {"cursors": {ABSENT: {"attempt": True, "seq": 1}}}, "invalid_cursor"),
    (CURSORS | {"since": -1}, "invalid_cursor"),
    (CURSORS | {"since": "1"}, "invalid_cursor"),
    ({"type": "send", "session": ABSENT, "text": "Hi"}, "session_not_found"),
    ({"type": "send", "session": "SESSION"}, "field_required"),
    ({"type": "send", "session": "SESSION", "text": " \u200b "}, "message_empty"),
    ({"type": "send", "session": "SESSION", "text": "x" * 100_001}, "message_too_long"),
    ({"type": "send", "session": "SESSION", "text": "Hi", "more": 1}, "unknown_field"),
    ({"type": "send", "session": "SESSION", "text": "Hi", "parent": ABSENT}, "parent_not_found"),
    ({"type": "send", "session": "SESSION", "text": "Hi", "models": []}, "models_invalid"),
    ({"type": "send", "session": "SESSION", "text": "Hi", "models": ["nonsense"]}, "models_invalid"),
    ({"type": "stop"}, "field_required"),
    ({"type": "stop", "run": ABSENT, "turn": ABSENT}, "field_required"),
    ({"type": "stop", "run": ABSENT}, "run_not_found"),
    ({"type": "stop", "turn": ABSENT}, "turn_not_found"),
    ({"type": "approve", "tool_call": ABSENT, "approved": True}, "tool_call_not_found"),
    ({"type": "compress", "session": "not an id"}, "invalid_id"),
    (b"binary", "unsupported_frame"),
]  # fmt: skip


async def test_bad_input_is_answered_with_one_clear_error_and_the_socket_stays_open(address, token, session):
    async with sockets.socket(address, **token) as client:
        for given, code in BAD:
            is_command = isinstance(given, dict)
            frame = json.dumps(given).replace("SESSION", str(session.pk)) if is_command else given
            await client.connection.send(frame)
            answer = await client.next()
            assert (answer["type"], answer["code"]) == ("error", code), frame[:100]
            assert answer["message"]
        assert await client.ask(type="ping") == {"type": "pong"}


async def test_an_error_echoes_the_id_of_its_command(address, token):
    async with sockets.socket(address, **token) as client:
        answer = await client.ask(type="stop", run=ABSENT, id=7)
        assert (answer["code"], answer["id"]) == ("run_not_found", 7)


async def test_foreign_and_absent_sessions_are_indistinguishable(address, token, mallory):
    foreign = await sync_to_async(Session.objects.start)(mallory)
    async with sockets.socket(address, **token) as client:
        for kind in ("subscribe", "send"):
            more = {"text": "Hi"} if kind == "send" else {}
            answers = [await client.ask(type=kind, session=pk, **more) for pk in (str(foreign.pk), ABSENT)]
            assert answers[0] == answers[1]


async def test_a_frame_over_the_limit_closes_the_socket(address, token):
    async with sockets.socket(address, **token) as client:
        await client.connection.send('{"type":"ping","id":"%s"}' % ("x" * 262_144))
        assert await client.close_code() == 1009


async def test_invalid_utf_8_closes_the_socket(address, token):
    async with sockets.socket(address, **token) as client:
        await client.connection.send(b'{"type":"\xff"}', text=True)
        assert await client.close_code() == 1007


async def test_a_flood_is_refused_and_then_closed(address, token):
    async def flood():
        while True:
            await client.say(type="ping")

    async with sockets.socket(address, **token) as client:
        flooding = asyncio.create_task(flood())
        assert await client.close_code() == 4429
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
        assert any(one.get("code") == "rate_limited" for one in client.seen)


async def test_a_web_server_that_ends_says_so_and_when_to_come_back(token):
    async with AsyncExitStack() as opened:
        async with sockets.web() as address:
            clients = [await opened.enter_async_context(sockets.socket(address, **token)) for _ in range(6)]
            for client in clients:
                assert await client.ask(type="ping") == {"type": "pong"}
            closing = [asyncio.create_task(client.close_code()) for client in clients]
        assert [await code for code in closing] == [1012] * 6
        reasons = {client.connection.close_reason for client in clients}
    assert all(re.fullmatch(r"restart; retry_after_s=0\.\d\d", reason) for reason in reasons)
    assert len(reasons) > 1
