"""Session events are numbered in their transaction, published after its commit, and not lost with the log."""

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from msgspec import json

from chat.events import session_events
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, read_now
from chat.models import Session

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session() -> Session:
    return Session.objects.start(User.objects.create_user("alice"))


def record(session: Session, *kinds: str) -> None:
    with transaction.atomic():
        for kind in kinds:
            session_events.record(session, kind, {"about": kind})


def logged(session: Session) -> list[tuple[int, str]]:
    return [(seq, json.decode(line)["type"]) for seq, line in read_now(event_log(session.pk)).lines]


def test_events_are_published_after_the_commit_under_contiguous_numbers(session):
    record(session, "turn_started")
    record(session, "compression", "overall_stop")
    assert logged(session) == [(1, "turn_started"), (2, "compression"), (3, "overall_stop")]


def test_a_frame_carries_the_kind_the_session_the_number_and_the_payload(session):
    record(session, "turn_started")
    [(_, line)] = read_now(event_log(session.pk)).lines
    assert json.decode(line) == {
        "type": "turn_started", "session": str(session.pk), "n": 1, "about": "turn_started"
    }  # fmt: skip


def test_an_event_that_was_not_published_is_sent_with_the_next(session):
    record(session, "first")
    with transaction.atomic():
        session.record("second", {})
    record(session, "third")
    assert logged(session) == [(1, "first"), (2, "second"), (3, "third")]


def test_a_lost_log_starts_again_and_the_rows_have_all_events(session):
    record(session, "first")
    record(session, "second")
    log = event_log(session.pk)
    sync_redis().delete(log.meta, log.entries)
    record(session, "third")
    assert logged(session) == [(3, "third")]
    assert [n for n, _ in session_events.frames_after(session.pk, 0, 10)] == [1, 2, 3]
    assert [n for n, _ in session_events.frames_after(session.pk, 1, 1)] == [2]
