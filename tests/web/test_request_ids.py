"""One request id from the browser to the rows of the turn, its messages on the socket, and the admin."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse
from knox.models import AuthToken
from rest_framework.test import APIClient

from chat.infrastructure import log_context
from chat.models import Compression, Turn
from config.log_format import ContextFilter
from tests import factories, sockets
from web.rest.api_view import StrictAPIView
from web.socket import commands, consumer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice() -> tuple[APIClient, str]:
    return factories.session_of_alice()


def send(client: APIClient, session: str, request_id: str) -> tuple[str, Turn]:
    """Returns the id in the response, and the turn."""
    path = f"/api/sessions/{session}/turns/"
    response = client.post(path, {"text": "Why?"}, format="json", HTTP_X_REQUEST_ID=request_id)
    assert response.status_code == 202
    return response["X-Request-ID"], Turn.objects.get(pk=response.json()["turn"])


def test_a_turn_keeps_the_id_of_its_request_and_the_answer_tells_it(alice):
    answered, turn = send(*alice, "from-the-browser_1.2")
    assert (answered, turn.request_id) == ("from-the-browser_1.2", "from-the-browser_1.2")
    run = alice[0].get(f"/api/runs/{turn.runs.get().pk}/").json()
    assert run["request_id"] == "from-the-browser_1.2"


@pytest.mark.parametrize("bad", ["", "x" * 65, "a b", "ä", "a;b", "{}"])
def test_an_id_that_is_too_long_or_has_other_characters_is_replaced(alice, bad):
    answered, turn = send(*alice, bad)
    assert answered == turn.request_id != bad
    assert len(answered) == 32


def test_two_requests_have_different_ids_and_nothing_stays_bound(alice):
    client, session = alice
    first, turn = send(client, session, "")
    second = client.get("/api/models/")["X-Request-ID"]
    assert first == turn.request_id != second
    assert log_context.current() == {}


@pytest.mark.parametrize("request_id", ["from-the-browser", "0a0b0c0d0e0f10111213141516171819"])
def test_the_admin_finds_the_run_by_the_id_of_its_request(alice, admin_client: Client, request_id):
    client, session = alice
    _, turn = send(client, session, request_id)
    factories.complete_turn(client, client.post("/api/sessions/", {}, format="json").json()["id"])
    found = admin_client.get(reverse("admin:chat_run_changelist"), {"q": request_id}).context["cl"]
    assert [run.pk for run in found.result_list] == [turn.runs.get().pk]
    page = admin_client.get(reverse("admin:chat_run_change", args=[turn.runs.get().pk]))
    assert request_id in page.content.decode()


def test_a_compression_keeps_the_id_of_the_request_that_asked_for_it(alice):
    client, session = alice
    for _ in range(2):
        factories.complete_turn(client, session)
    client.post(f"/api/sessions/{session}/compression/", HTTP_X_REQUEST_ID="compress-1")
    assert Compression.objects.get().request_id == "compress-1"


@pytest_asyncio.fixture
async def address():
    async with sockets.web() as address:
        yield address


async def test_answers_on_the_socket_tell_the_id_of_their_command(address, alice, django_user_model):
    user = await django_user_model.objects.aget(username="alice")
    _, token = await sync_to_async(AuthToken.objects.create)(user)
    async with sockets.socket(address, Authorization=f"Token {token}") as client:
        sent = await client.ask(type="send", session=alice[1], text="Why?", request_id="socket-1")
        assert (sent["type"], sent["request_id"]) == ("accepted", "socket-1")
        assert (await Turn.objects.aget(pk=sent["turn"])).request_id == "socket-1"
        own = await client.ask(type="stop", turn=sent["turn"], request_id="not valid")
        assert (own["type"], len(own["request_id"])) == ("stopping", 32)
        refused = await client.ask(type="send", session=alice[1], text="", request_id="socket-2")
        assert (refused["type"], refused["request_id"]) == ("error", "socket-2")


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What is logged, with the ids."""
    caplog.handler.addFilter(ids := ContextFilter())
    yield caplog
    caplog.handler.removeFilter(ids)


@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("sessions/{}/messages", "session"),
        ("trash/{}/restoration", "session"),
        ("runs/{}", "run"),
        ("turns/{}/cancellation", "turn"),
        ("messages/{}", None),
    ],
)
def test_lines_of_a_request_name_the_session_run_or_turn_in_its_path(alice, log, monkeypatch, path, member):
    monkeypatch.setattr(StrictAPIView, "initial", fail)
    for pk in (str(uuid4()), "no id"):
        log.clear()
        alice[0].post(f"/api/{path.format(pk)}/", HTTP_X_REQUEST_ID="q1")
        [failed] = [line for line in log.records if line.exc_info]
        assert failed.context == {"request_id": "q1"} | ({member: pk} if member and pk != "no id" else {})


async def test_lines_of_a_command_on_the_socket_name_its_session(
    address, alice, log, django_user_model, monkeypatch
):
    for command in (commands.CompressCommand, commands.StopCommand):
        monkeypatch.setitem(consumer._HANDLERS, command, fail)
    user = await django_user_model.objects.aget(username="alice")
    _, token = await sync_to_async(AuthToken.objects.create)(user)
    async with sockets.socket(address, Authorization=f"Token {token}") as client:
        await client.ask(type="compress", session=alice[1])
        await client.ask(type="stop", run=str(uuid4()))
    failed = [line.context.get("session") for line in log.records if line.message == "a command failed"]
    assert failed == [alice[1], None]


def fail(*_: object) -> None:
    raise RuntimeError
