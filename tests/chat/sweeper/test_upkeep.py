"""After events of a session the sweeper measures it, and deletes its oldest events."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.events import session_events
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, position_now
from chat.models import Feedback, Session, SessionEvent, StoredBytes
from chat.models.sql.usage import ROW_BYTES
from chat.sweeper import upkeep
from chat.sweeper.upkeep import EVERY_S, SessionUpkeep, purge_events
from knowledge.models import File
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(db: None) -> APIClient:
    return factories.session_of_alice()[0]


@pytest.fixture
def session(client: APIClient) -> Session:
    return Session.objects.get()


def numbers(session: Session) -> list[int]:
    return list(SessionEvent.objects.filter(session=session).order_by("n").values_list("n", flat=True))


def total(session: Session) -> int:
    return StoredBytes.objects.get(user=session.owner_id).total


class TestMeasuring:
    def test_texts_are_counted_as_utf8_with_something_for_each_message(
        self, client: APIClient, session: Session
    ) -> None:
        factories.complete_turn(client, session.pk, "Grüße", additional_context="x" * 1000)
        Feedback.objects.create(message=session.messages.get(role="assistant"), text="y" * 50)
        assert SessionUpkeep().run(0.0) == 1
        # "Grüße" has 7 bytes, the answer is "About Grüße".
        assert total(session) == 7 + len("About ") + 7 + 1000 + 50 + 2 * ROW_BYTES

    def test_files_count_and_what_is_deleted_no_longer_does(
        self, client: APIClient, session: Session
    ) -> None:
        factories.complete_turn(client, session.pk, "One")
        File.objects.create(owner=session.owner, name="a", size_bytes=5000, text="abc")
        SessionUpkeep().run(0.0)
        assert total(session) > 5003
        client.delete(f"/api/sessions/{session.pk}/?permanent=1")
        assert StoredBytes.objects.sum_of(session.owner_id) == 5003

    def test_only_what_had_an_event_since_is_measured_again(
        self, client: APIClient, session: Session
    ) -> None:
        keeper = SessionUpkeep()
        assert [keeper.run(0.0), keeper.run(EVERY_S)] == [1, 0]
        factories.complete_turn(client, session.pk, "One")
        assert [keeper.run(EVERY_S + 1), keeper.run(2 * EVERY_S)] == [0, 1]
        assert total(session) > 2 * ROW_BYTES

    def test_a_backlog_is_worked_off_in_every_sweep(
        self, client: APIClient, session: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(upkeep, "SESSIONS_AT_ONCE", 2)
        for _ in range(4):
            Session.objects.start(session.owner)
        keeper = SessionUpkeep()
        assert [keeper.run(now) for now in (0.0, 1.0, 2.0, 3.0)] == [2, 2, 1, 0]


class TestPurging:
    def test_the_newest_events_stay(self, client: APIClient, session: Session, settings: Any) -> None:
        settings.KEEP_EVENTS_PER_SESSION = 3
        for text in ("one", "two", "three"):
            factories.complete_turn(client, session.pk, text)
        latest = numbers(session)[-1]
        SessionUpkeep().run(0.0)
        assert numbers(session) == [latest - 2, latest - 1, latest]
        settings.KEEP_EVENTS_PER_SESSION = 0
        assert purge_events(session.pk) == 0

    def test_a_log_that_lacks_purged_events_starts_again(
        self, client: APIClient, session: Session, settings: Any
    ) -> None:
        factories.complete_turn(client, session.pk, "one")
        log = event_log(session.pk)
        before = {key: sync_redis().dump(key) for key in log[:2]}
        for text in ("two", "three"):
            factories.complete_turn(client, session.pk, text)
        for key, content in before.items():
            sync_redis().restore(key, 0, content, replace=True)
        settings.KEEP_EVENTS_PER_SESSION = 1
        SessionUpkeep().run(0.0)
        session_events.resend(session.pk)
        (latest,) = numbers(session)
        held = position_now(log)
        assert held
        assert held.seq == latest
