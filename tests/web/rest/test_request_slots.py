"""Requests of one user that take long leave room for those of others."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from string import ascii_lowercase
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from chat.models import Agent
from chat.models.sql.session_search import MAX_WORDS, _search
from chat.protocol.errors import ApiError
from knowledge.models import KnowledgeBase
from tests import factories
from web import admin_site
from web.rest import schema_views
from web.rest.request_slots import ADMIN, EXPENSIVE, LONG_BODIES, REQUESTS, UserSlots

pytestmark = pytest.mark.django_db(transaction=True)

SIDE_BY_SIDE = 40
PATIENCE_S = 60


class Gate:
    """A read that uses the database until the test opens it."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.inside = threading.Semaphore(0)

    def read(self, *_: object, **__: object) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            self.inside.release()
            assert self._open.wait(PATIENCE_S)
        return []

    def wait_for(self, readers: int) -> None:
        for _ in range(readers):
            assert self.inside.acquire(timeout=PATIENCE_S)

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open()


def side_by_side(pool: ThreadPoolExecutor, ask: Callable[[], Any]) -> list[Future[int]]:
    def call() -> int:
        try:
            return int(ask().status_code)
        finally:
            connection.close()

    return [pool.submit(call) for _ in range(SIDE_BY_SIDE)]


def test_expensive_reads_of_a_user_take_few_connections_and_are_all_answered(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = factories.create_user("alice"), factories.create_user("bob")
    base = KnowledgeBase.objects.start(alice, name="Tides")
    path = f"/api/knowledge-bases/{base.pk}/search/?q=tide"
    monkeypatch.setattr("features.knowledge_bases.api.search_files", gate.read)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = side_by_side(pool, lambda: factories.api_client(alice).get(path))
        gate.wait_for(EXPENSIVE.most)
        # Who has asked for something else, too.
        assert factories.api_client(bob).get("/api/sessions/").status_code == 200
        assert factories.api_client(alice).get("/api/sessions/").status_code == 200
        gate.open()
        statuses = [one.result() for one in asked]
    assert set(statuses) == {200}
    assert not EXPENSIVE._taken
    assert not EXPENSIVE._waiting


def test_short_requests_of_a_user_are_answered_in_turns(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = factories.create_user("alice"), factories.create_user("bob")
    Agent.objects.create(owner=alice, name="Tides", prompt="")
    path = "/api/agents/"
    monkeypatch.setattr("features.agents.api.present_agents", gate.read)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = side_by_side(pool, lambda: factories.api_client(alice).get(path))
        gate.wait_for(REQUESTS.most)
        assert factories.api_client(bob).get("/api/sessions/").status_code == 200
        gate.open()
        statuses = [one.result() for one in asked]
    assert set(statuses) == {200}
    assert not REQUESTS._taken


def test_documents_of_a_user_are_taken_two_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = factories.create_user("alice")
    path = f"/api/knowledge-bases/{KnowledgeBase.objects.start(alice, name='Tides').pk}/documents/"
    taken: list[int] = []

    def read(*_: object) -> Any:
        taken.append(LONG_BODIES._taken[alice.pk])
        raise ApiError("invalid_value", field="text")

    monkeypatch.setattr("features.knowledge_bases.document_api.read_source", read)
    body = {"title": "Tides", "text": "Low water."}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = side_by_side(pool, lambda: factories.api_client(alice).post(path, body, format="json"))
        statuses = [one.result() for one in asked]
    assert set(statuses) == {400}
    assert set(taken) <= {1, LONG_BODIES.most}
    assert not LONG_BODIES._taken


def test_the_schema_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, made = factories.create_user("alice"), []
    monkeypatch.setattr(schema_views, "SCHEMA", schema_views.RenderedSchema())
    monkeypatch.setattr(
        SchemaGenerator, "get_schema", lambda *_, **__: made.append(1) or {"openapi": "3.1.0"}
    )
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = side_by_side(pool, lambda: factories.api_client(alice).get("/api/schema/"))
        assert {one.result() for one in asked} == {200}
    assert len(made) == 1


def test_pages_of_the_admin_are_made_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch, admin_client: Client, admin_user: Any
) -> None:
    slots = [ADMIN.take(admin_user.pk) for _ in range(ADMIN.most)]
    monkeypatch.setattr(ADMIN, "waiting", 0)
    refused = admin_client.get("/admin/usage/")
    assert (refused.status_code, "Retry-After" in refused.headers) == (429, True)
    for slot in slots:
        slot.free()


@pytest.mark.pure
class TestUserSlots:
    def test_another_user_has_slots_of_the_own(self) -> None:
        slots = UserSlots(1)
        with slots.take("alice"), slots.take("bob"):
            for user in ("alice", "bob"):
                with pytest.raises(ApiError, match="rate_limited"):
                    slots.take(user)
        assert not slots._taken

    def test_one_that_waits_too_long_is_refused(self) -> None:
        slots = UserSlots(1, waiting=1, wait_s=0.01)
        with slots.take("alice"), pytest.raises(ApiError, match="rate_limited"):
            slots.take("alice")
        assert not slots._waiting

    def test_a_slot_is_freed_once_and_with_what_holds_it(self) -> None:
        slots = UserSlots(2)
        slot = slots.take("alice")
        other = slots.take("alice")
        slot.free()
        slot.free()
        assert slots._taken["alice"] == 1
        del other
        assert not slots._taken


@pytest.mark.pure
@pytest.mark.parametrize("separator", [" ", "-", ".", "_", "/"])
def test_a_search_has_a_limited_number_of_words(separator: str) -> None:
    query = _search(separator.join(ascii_lowercase * 300)).query
    assert sum(map(str.isalpha, query)) == MAX_WORDS


def test_a_search_of_the_admin_has_a_limited_number_of_words(rf: Any) -> None:
    request = rf.get("/admin/chat/run/", {"q": "tide " * 1_000, "p": "1"})
    admin_site._cut_search(request)
    assert request.GET["q"].split() == ["tide"] * admin_site.MAX_WORDS
    assert request.GET["p"] == "1"


@pytest.mark.django_db
def test_every_list_of_the_admin_searches_with_them() -> None:
    lists = factories.staff_client("view_run").get("/admin/chat/run/", {"q": "tide " * 1_000})
    assert lists.context["cl"].query.split() == ["tide"] * admin_site.MAX_WORDS
