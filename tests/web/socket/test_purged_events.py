"""A client whose cursor is older than the events that are kept is told to read the session, and goes on from there."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from knox.models import AuthToken

from chat.models import Session
from chat.sweeper.upkeep import purge_events
from tests import factories, sockets
from web.socket import session_snapshot
from web.socket.hub import current_hub

pytestmark = pytest.mark.django_db(transaction=True)
KEPT = 3


@pytest.fixture
def alice(transactional_db: None, settings: Any) -> User:
    settings.KEEP_EVENTS_PER_SESSION = KEPT
    factories.session_of_alice()
    return User.objects.get()


@pytest.fixture
def session(alice: User) -> str:
    return str(Session.objects.get().pk)


@pytest_asyncio.fixture
async def client(alice: User) -> AsyncIterator[sockets.Client]:
    token = await sync_to_async(lambda: AuthToken.objects.create(alice)[1])()
    async with sockets.web() as address, sockets.socket(address, Authorization=f"Token {token}") as client:
        yield client


def have_turns(alice: User, session: str, count: int) -> None:
    for number in range(count):
        factories.complete_turn(factories.api_client(alice), session, f"Question {number}")


async def events(client: sockets.Client, up_to: int) -> list[tuple[str, int]]:
    """`resync` and the numbered events that are read until that of this number."""
    await client.until(lambda one: one["type"] != "subscribed" and one.get("n") == up_to)
    told = [one for one in client.seen if "n" in one and one["type"] != "subscribed"]
    return [("resync" if one["type"] == "resync" else "event", one["n"]) for one in told]


@pytest.mark.parametrize("since", [0, 2])
async def test_an_old_cursor_is_answered_by_resync_and_what_is_kept(
    client: sockets.Client, alice: User, session: str, since: int
) -> None:
    await sync_to_async(have_turns)(alice, session, 4)
    await sync_to_async(purge_events)(UUID(session))
    latest = (await client.ask(type="subscribe", session=session, since=since))["n"]
    wanted = [("resync", latest - KEPT), *(("event", n) for n in range(latest - KEPT + 1, latest + 1))]
    assert await events(client, latest) == wanted


async def test_a_cursor_within_what_is_kept_gets_the_events_alone(
    client: sockets.Client, alice: User, session: str
) -> None:
    await sync_to_async(have_turns)(alice, session, 4)
    await sync_to_async(purge_events)(UUID(session))
    latest = (await sync_to_async(Session.objects.get)(pk=session)).latest_event
    await client.ask(type="subscribe", session=session, since=latest - KEPT)
    assert await events(client, latest) == [("event", n) for n in range(latest - KEPT + 1, latest + 1)]


async def test_a_socket_that_missed_more_than_is_kept_goes_on_too_and_follows_the_run_that_started_meanwhile(
    client: sockets.Client, alice: User, session: str
) -> None:
    await client.ask(type="subscribe", session=session, since=0)
    (topic,) = current_hub().topics.values()
    (subscription,) = topic.subscribers
    while subscription.feeds.events.is_healing:  # noqa: ASYNC110  a feed has no event for it
        await asyncio.sleep(0)
    topic.subscribers.clear()
    started = await sync_to_async(factories.send_turn)(factories.api_client(alice), session, "Live")
    run = started.json()["runs"][0]["id"]
    for title in "abcd":
        await sync_to_async(factories.api_client(alice).patch)(
            f"/api/sessions/{session}/", {"title": title}, format="json"
        )
    await sync_to_async(purge_events)(UUID(session))
    topic.subscribers.append(subscription)
    latest = (await sync_to_async(Session.objects.get)(pk=session)).latest_event
    subscription.heal_everything()
    told = await events(client, latest)
    assert told[0] == ("resync", latest - KEPT)
    assert [n for _, n in told[1:]] == list(range(latest - KEPT + 1, latest + 1))
    # Its turn_started was purged; without having heard of it the socket would not look for its end.
    assert run in subscription.feeds.live  # type: ignore[attr-defined]


def test_a_client_that_names_many_ended_runs_is_told_of_the_live_ones(
    alice: User, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_snapshot, "MAX_RUNS", 2)
    client = factories.api_client(alice)
    ended = [factories.complete_turn(client, session, text)["runs"][0]["id"] for text in ("one", "two")]
    live = factories.send_turn(client, session, "three").json()["runs"][0]["id"]
    snapshot = session_snapshot.read_session(alice, UUID(session), [UUID(run) for run in ended])
    assert [run.run for run in snapshot.runs] == [ended[0], live]
