"""Updates of the session list reach all sockets of a user, with a real server and real sockets."""

import uuid
from contextlib import asynccontextmanager
from functools import partial

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from knox.models import AuthToken

from chat.infrastructure.redis_client import sync_redis
from chat.models import ModelConfig, Session
from chat.sessions.settings import edit_session
from features.titles import generation as titles
from knowledge.models import File
from tests import factories, sockets
from web.socket import user_feeds

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def address():
    async with sockets.web() as address:
        yield address


@pytest.fixture
def alice(transactional_db) -> User:
    ModelConfig.objects.create(name="quick", is_default=True)
    return factories.create_user("alice")


@asynccontextmanager
async def tab(address: str, person: User):
    """A socket that watches its user's sessions."""
    token = await sync_to_async(lambda: AuthToken.objects.create(person)[1])()
    async with sockets.socket(address, Authorization=f"Token {token}") as client:
        assert await client.ask(type="watch_sessions", id=1) == {"type": "sessions_watched", "id": 1}
        yield client


async def marks(client: sockets.Client) -> tuple[bool, bool]:
    """Return is_answering and is_unread of the next line."""
    line = await client.next()
    assert line["type"] == "session_changed"
    return line["is_answering"], line["is_unread"]


def row(api, session: str) -> dict:
    """Read the session as the list presents it."""
    return next(one for one in api.get("/api/sessions/").json()["results"] if one["id"] == session)


async def test_every_tab_receives_what_the_list_would_show(address, alice):
    api = await sync_to_async(factories.api_client)(alice)
    do = sync_to_async
    async with tab(address, alice) as one, tab(address, alice) as other:
        session = (await do(api.post)("/api/sessions/", {"title": "Tides"}, format="json")).json()["id"]
        await do(factories.complete_turn)(api, session)
        await do(api.patch)(f"/api/sessions/{session}/", {"title": "Moons"}, format="json")
        await do(api.put)(f"/api/sessions/{session}/seen/", {}, format="json")
        lines = [await one.next() for _ in range(5)]
        assert [(line["title"], line["n"], line["is_answering"], line["is_unread"]) for line in lines] == [
            ("Tides", 0, False, False),
            ("Tides", 1, True, False),
            ("Tides", 2, False, True),
            ("Moons", 3, False, True),
            ("Moons", 3, False, False),
        ]
        shown = await do(row)(api, session)
        named = {"type": "session_changed", "session": session}
        assert lines[-1] == named | {name: shown[name] for name in lines[-1] if name not in named}
        await do(api.delete)(f"/api/sessions/{session}/")
        assert await one.next() == {"type": "session_deleted", "session": session}
        assert [await other.next() for _ in range(6)] == one.seen[1:]


async def test_every_tab_is_told_what_is_pinned_and_archived(address, alice):
    api = await sync_to_async(factories.api_client)(alice)
    do = partial(sync_to_async(_ask), api)
    session = (await do("post", "sessions/", {}))["id"]
    async with tab(address, alice) as one, tab(address, alice) as other:
        await one.ask(type="subscribe", session=session)
        await do("patch", f"sessions/{session}/", {"is_pinned": True})
        await do("patch", f"sessions/{session}/", {"is_pinned": False, "is_archived": True})
        told = [await other.next() for _ in range(2)]
        marks = [(line["type"], line["is_pinned"], line["is_archived"]) for line in told]
        assert marks == [("session_changed", True, False), ("session_changed", False, True)]
        seen = [await one.next() for _ in range(4)]
        events = [
            (line["n"], line["is_pinned"], line["is_archived"]) for line in seen if line["type"] == "session"
        ]
        assert events == [(1, True, False), (2, False, True)]


async def test_every_tab_is_told_which_project_has_changed(address, alice):
    api = await sync_to_async(factories.api_client)(alice)
    file = await sync_to_async(File.objects.create)(
        owner=alice, name="tides.txt", status="ready", text="Two.", token_count=1, size_bytes=4
    )
    do = partial(sync_to_async(_ask), api)
    async with tab(address, alice) as one, tab(address, alice) as other:
        project = (await do("post", "projects/", {"name": "Tides"}))["id"]
        session = (await do("post", "sessions/", {}))["id"]
        await do("patch", f"sessions/{session}/", {"project": project})
        await do("patch", f"projects/{project}/", {"instructions": "Name the Moon."})
        await do("post", f"projects/{project}/files/", {"file": str(file.pk)})
        await do("delete", f"projects/{project}/files/{file.pk}/")
        await do("patch", f"projects/{project}/", {"files": [str(file.pk)]})
        await do("delete", f"files/{file.pk}/")
        await do("delete", f"projects/{project}/")
        lines = [await one.next() for _ in range(9)]
        changed = {"type": "project_changed", "project": project}
        assert [line.get("project") for line in lines[1:3]] == [None, project]
        assert [lines[0], *lines[3:]] == [*[changed] * 6, {"type": "project_deleted", "project": project}]
        assert [await other.next() for _ in range(9)] == lines


async def test_every_tab_is_told_of_the_project_that_a_file_has_left(address, alice):
    api = await sync_to_async(factories.api_client)(alice)
    do = partial(sync_to_async(_ask), api)
    file = str((await sync_to_async(File.objects.create)(owner=alice, name="tides.txt", status="ready")).pk)
    async with tab(address, alice) as client:
        first = (await do("post", "projects/", {"name": "Tides", "files": [file]}))["id"]
        second = (await do("post", "projects/", {"name": "Moon", "files": [file]}))["id"]
        await do("patch", f"projects/{first}/", {"files": [file]})
        await do("post", f"projects/{second}/files/", {"file": file})
        moves = [(await client.next())["project"] for _ in range(7)]
    assert moves == [first, second, first, first, second, second, first]


def _ask(api, method: str, path: str, body: object = None) -> dict:
    response = getattr(api, method)(f"/api/{path}", body, format="json")
    assert response.status_code < 300, response.content
    return response.json() if response.content else {}


async def test_other_users_receive_nothing(address, alice):
    mallory = await sync_to_async(factories.create_user)("mallory")
    async with tab(address, mallory) as client:
        api = await sync_to_async(factories.api_client)(alice)
        await sync_to_async(api.post)("/api/sessions/", {}, format="json")
        # Messages arrive in the order of their publication.
        own = await sync_to_async(factories.api_client)(mallory)
        created = (await sync_to_async(own.post)("/api/sessions/", {}, format="json")).json()["id"]
        assert (await client.next())["session"] == created


async def test_a_session_is_answering_until_the_last_turn_that_waits_has_ended(address, alice):
    api = await sync_to_async(factories.api_client)(alice)
    session = await sync_to_async(lambda: str(Session.objects.start(alice).pk))()
    async with tab(address, alice) as client:
        first = (await sync_to_async(factories.send_turn)(api, session)).json()["runs"][0]["id"]
        second = (await sync_to_async(factories.send_turn)(api, session)).json()["runs"][0]["id"]
        for run in (first, second):
            await sync_to_async(factories.finish_run)(run)
        assert [await marks(client) for _ in range(4)] == [
            (True, False), (True, False), (True, True), (False, True),
        ]  # fmt: skip


async def test_a_lost_connection_to_redis_is_reported(address, alice):
    async with tab(address, alice) as client:
        await sync_to_async(sync_redis().execute_command)("CLIENT", "KILL", "TYPE", "pubsub")
        assert await client.next() == {"type": "sessions_resync"}
        assert await client.ask(type="watch_sessions") == {"type": "sessions_watched"}


async def test_a_watch_that_redis_does_not_confirm_is_refused(address, alice, monkeypatch):
    monkeypatch.setattr(user_feeds, "JOIN_TIMEOUT_S", 0.0)
    token = await sync_to_async(lambda: AuthToken.objects.create(alice)[1])()
    async with sockets.socket(address, Authorization=f"Token {token}") as client:
        assert (await client.ask(type="watch_sessions"))["code"] == "stream_unavailable"


def test_a_title_that_a_model_gives_is_pushed_and_moves_nothing(alice):
    session = Session.objects.start(alice)
    with sync_redis().pubsub() as ear:
        ear.subscribe(f"turnwire:user:{alice.pk}:sessions")
        assert ear.get_message(timeout=60)
        assert titles.set_title(session.pk, "Beds and Paths")
        assert b'"title":"Beds and Paths"' in ear.get_message(timeout=60)["data"]
    assert Session.objects.get(pk=session.pk).updated_at == session.updated_at


@pytest.mark.parametrize(
    ("seen", "is_unread"),
    [
        pytest.param(None, False, id="all there is"),
        pytest.param(2, False, id="the end of the turn"),
        pytest.param(99, False, id="more than there is"),
        pytest.param(1, True, id="its beginning"),
        pytest.param(0, True, id="nothing"),
    ],
)
def test_a_session_is_unread_until_the_end_of_its_latest_turn_was_seen(alice, seen, is_unread):
    api = factories.api_client(alice)
    session = str(Session.objects.start(alice).pk)
    factories.complete_turn(api, session)
    assert row(api, session)["is_unread"]
    body = {} if seen is None else {"n": seen}
    for _ in range(2):
        assert api.put(f"/api/sessions/{session}/seen/", body, format="json").status_code == 204
        assert row(api, session)["is_unread"] is is_unread
    factories.complete_turn(api, session)
    assert row(api, session)["is_unread"]


def test_who_sends_has_seen(alice):
    api = factories.api_client(alice)
    session = str(Session.objects.start(alice).pk)
    factories.complete_turn(api, session)
    factories.send_turn(api, session)
    assert (row(api, session)["is_answering"], row(api, session)["is_unread"]) == (True, False)


def test_a_log_that_redis_forgot_and_a_script_it_does_not_know_lose_no_event(alice):
    api = factories.api_client(alice)
    session = Session.objects.start(alice)
    for title in ("Tides", "Moons"):
        sync_redis().flushall()
        sync_redis().script_flush()
        edit_session(session, {"title": title})
    assert row(api, str(session.pk))["n"] == 2


def test_a_page_of_sessions_costs_the_same_however_many_there_are(alice):
    api = factories.api_client(alice)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert api.get("/api/sessions/").status_code == 200
        return len(captured)

    Session.objects.start(alice)
    one = queries()
    for _ in range(20):
        Session.objects.start(alice)
    assert queries() == one


def test_sessions_in_progress_are_found_without_reading_their_turns(alice):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT FROM chat_turn WHERE session_id = %s AND ended_at IS NULL", [uuid.uuid4()]
        )
        assert "turn_in_progress" in str(cursor.fetchall())
