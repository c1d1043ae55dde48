"""Temporary chats that nobody uses any more are deleted by the sweeper; those in use never are."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from redis.exceptions import ConnectionError as RedisDown
from rest_framework.test import APIClient

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import session_channel
from chat.models import ChatMessage, Session
from chat.sessions import deletion
from chat.sweeper import purging
from chat.sweeper.purging import EVERY_S, WAIT_S, TemporaryPurger
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(db: None) -> APIClient:
    return factories.session_of_alice()[0]


@pytest.fixture
def chat(client: APIClient) -> str:
    """One whose time is over."""
    session = client.post("/api/sessions/", {"is_temporary": True}, format="json").json()["id"]
    end_time(session)
    return str(session)


@pytest.fixture
def socket(chat: str) -> Iterator[Any]:
    """What a web process has while a page shows the chat."""
    with sync_redis().pubsub() as pubsub:
        pubsub.subscribe(session_channel(chat))
        assert pubsub.get_message(timeout=10)["type"] == "subscribe"
        yield pubsub


@pytest.fixture
def purger() -> TemporaryPurger:
    """Of a sweeper that has run for a while."""
    purger = TemporaryPurger()
    purger.run(0.0)
    return purger


def end_time(session: str) -> None:
    Session.objects.filter(pk=session).update(temporary_until=Now() - timedelta(seconds=1))


def exists(session: str) -> bool:
    return Session.with_trash.filter(pk=session).exists()


def test_a_chat_that_is_over_is_deleted_for_good_and_others_are_not(client: APIClient, chat: str) -> None:
    purger = TemporaryPurger()
    factories.complete_turn(client, chat, "A secret")
    end_time(chat)
    fresh = client.post("/api/sessions/", {"is_temporary": True}, format="json").json()["id"]
    assert purger.run(0.0) == 0  # the sweeper has just started: pages connect again first
    assert purger.run(WAIT_S) == 1
    assert not exists(chat)
    assert exists(fresh)
    assert Session.objects.listed().count() == 1
    assert not ChatMessage.objects.filter(text="A secret").exists()


def test_a_chat_that_a_page_shows_is_kept_and_gets_its_whole_time(
    chat: str, socket: Any, purger: TemporaryPurger
) -> None:
    assert purger.run(WAIT_S) == 0
    assert Session.objects.unused_within(timedelta(minutes=29)).count() == 0
    socket.unsubscribe(session_channel(chat))
    assert socket.get_message(timeout=10)["type"] == "unsubscribe"
    assert purger.run(WAIT_S + EVERY_S) == 0
    end_time(chat)
    assert purger.run(WAIT_S + 2 * EVERY_S) == 1


def test_a_chat_that_is_being_answered_is_kept(client: APIClient, chat: str, purger: TemporaryPurger) -> None:
    run = factories.send_turn(client, chat).json()["runs"][0]["id"]
    end_time(chat)
    assert purger.run(WAIT_S) == 0
    assert exists(chat)
    factories.finish_run(run)
    end_time(chat)
    assert purger.run(WAIT_S + EVERY_S) == 1


def test_a_question_that_was_sent_meanwhile_saves_the_chat(client: APIClient, chat: str) -> None:
    factories.send_turn(client, chat)
    end_time(chat)
    assert not deletion.expire(Session.objects.get(pk=chat).pk)
    assert exists(chat)


def test_a_chat_that_was_kept_meanwhile_stays(client: APIClient, chat: str) -> None:
    client.patch(f"/api/sessions/{chat}/", {"is_temporary": False}, format="json")
    assert not deletion.expire(Session.objects.get(pk=chat).pk)
    assert exists(chat)


def test_without_redis_nothing_is_deleted(
    chat: str, purger: TemporaryPurger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_sessions: object) -> list[Any]:
        raise RedisDown

    monkeypatch.setattr(purging, "_with_sockets", fail)
    assert purger.run(WAIT_S) == 0
    assert exists(chat)


def test_many_are_deleted_some_at_a_time_without_a_pause(
    client: APIClient, purger: TemporaryPurger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "SESSIONS_AT_ONCE", 2)
    for _ in range(3):
        end_time(client.post("/api/sessions/", {"is_temporary": True}, format="json").json()["id"])
    assert purger.run(WAIT_S) == 2
    assert purger.run(WAIT_S) == 1


def test_a_chat_that_a_page_shows_is_kept_when_there_are_to_be_none(
    chat: str, socket: Any, purger: TemporaryPurger, settings: Any
) -> None:
    settings.TEMPORARY_CHAT_MINUTES = 0
    end_time(chat)
    assert purger.run(WAIT_S) == 0
    assert exists(chat)
    socket.unsubscribe(session_channel(chat))
    assert socket.get_message(timeout=10)["type"] == "unsubscribe"
    assert purger.run(WAIT_S + EVERY_S) == 1
