"""Compressions: when one is asked for, who gets it, how it ends and what sockets hear; each with real rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from celery import current_app
from django.db.models.functions import Now

from chat.compressions import requests as compression_requests
from chat.compressions import summaries
from chat.compressions.requests import CompressionUsage, NewSummary
from chat.infrastructure.redis_client import sync_redis
from chat.models import ChatMessage, Compression, CompressionStatus, ModelConfig, Role, Session, TriggeredBy
from chat.models.session import SessionEvent
from chat.protocol.tasks import COMPRESS_BRANCH, COMPRESSION_QUEUE
from chat.sweeper.runs import sweep
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = timedelta(hours=1)


@dataclass
class Talk:
    """alice's session: messages by name (u1 a1 u2 …); each user message has one answer."""

    session: Session
    model: ModelConfig
    messages: dict[str, ChatMessage]

    def __getitem__(self, name: str) -> ChatMessage:
        return self.messages[name]

    def add(self, turn: int, parent: ChatMessage) -> ChatMessage:
        user = ChatMessage.objects.append(parent, role=Role.USER, text=f"Question {turn}")
        answer = ChatMessage.objects.append(user, role=Role.ASSISTANT, text=f"Answer {turn}")
        self.messages |= {f"u{turn}": user, f"a{turn}": answer}
        return answer

    def ask(self, leaf: str, by: TriggeredBy = TriggeredBy.AUTO) -> Compression | None:
        return compression_requests.request_compression(self[leaf], self.model, triggered_by=by)

    def held(self, leaf: str) -> Compression:
        asked = self.ask(leaf, TriggeredBy.STAFF)
        assert asked
        held = Compression.objects.claim(asked.pk, owner=7)
        assert held
        return held

    def heard(self) -> list[Any]:
        events = SessionEvent.objects.filter(session=self.session, kind="compression").order_by("n")
        return [event.payload for event in events]


@pytest.fixture
def talk() -> Iterator[Talk]:
    sync_redis().flushdb()
    session = Session.objects.start(factories.create_user("alice"))
    talk = Talk(session, factories.create_model("tides"), {})
    tip = ChatMessage.objects.root_of(session)
    for turn in range(1, 4):
        tip = talk.add(turn, tip)
    yield talk
    sync_redis().flushdb()


def queued() -> list[str]:
    """Ids on the compression queue, taken off it."""
    found = []
    with current_app.connection_for_read() as broker:
        simple = broker.SimpleQueue(COMPRESSION_QUEUE)
        while True:
            try:
                message = simple.get(block=False)
            except simple.Empty:
                break
            assert message.headers["task"] == COMPRESS_BRANCH
            found.append(message.payload[1]["compression_id"])
            message.ack()
        simple.close()
    return found


def again(compression: Compression) -> Compression:
    return Compression.objects.get(pk=compression.pk)


# --- Asking ------------------------------------------------------------------------------------------------


def test_a_compression_hangs_at_the_last_user_message_and_wakes_a_worker(talk: Talk) -> None:
    asked = talk.ask("a3")
    assert asked
    assert (asked.parent, asked.leaf, asked.model) == (talk["u3"], talk["a3"], "tides")
    assert queued() == [str(asked.pk)]


@pytest.mark.parametrize("by", TriggeredBy)
def test_one_at_a_time_on_a_branch(talk: Talk, by: TriggeredBy) -> None:
    assert talk.ask("a3")
    talk.add(4, talk["a3"])
    assert talk.ask("a3", by) is None
    assert talk.ask("a4", by) is None


def test_another_branch_does_not_wait(talk: Talk) -> None:
    assert talk.ask("a3")
    talk.add(4, talk["a2"])
    assert talk.ask("a4")


def test_a_root_has_nothing_to_compress(talk: Talk) -> None:
    assert (
        compression_requests.request_compression(
            ChatMessage.objects.root_of(talk.session), talk.model, triggered_by=TriggeredBy.USER
        )
        is None
    )


def test_a_vain_one_is_not_tried_again_before_the_back_off_which_doubles(talk: Talk, settings: Any) -> None:
    settings.COMPRESSION_BACKOFF_S = 60
    waits = []
    for _ in range(3):
        held = talk.held("a3")
        assert compression_requests.end_without_summary(held, CompressionStatus.REFUSED, "not_shorter")
        ended = again(held)
        assert ended.ended_at
        assert ended.retry_at
        waits.append((ended.retry_at - ended.ended_at).total_seconds())
        assert talk.ask("a3") is None
    assert waits == [60, 120, 240]
    talk.add(4, talk["a3"])
    assert talk.ask("a4") is None
    assert talk.ask("a4", TriggeredBy.USER)


def test_another_model_does_not_wait_for_the_back_off(talk: Talk) -> None:
    compression_requests.end_without_summary(talk.held("a3"), CompressionStatus.FAILED, "upstream_auth")
    assert talk.ask("a3") is None
    other = factories.create_model("oceans")
    assert compression_requests.request_compression(talk["a3"], other, triggered_by=TriggeredBy.AUTO)


def test_after_the_back_off_it_is_tried_again(talk: Talk) -> None:
    compression_requests.end_without_summary(
        talk.held("a3"), CompressionStatus.FAILED, "upstream_unavailable"
    )
    Compression.objects.update(retry_at=Now() - LONG_AGO)
    assert talk.ask("a3")


def test_a_summary_ends_the_back_off(talk: Talk) -> None:
    compression_requests.end_without_summary(
        talk.held("a3"), CompressionStatus.FAILED, "upstream_unavailable"
    )
    compression_requests.finish(
        talk.held("a3"), NewSummary(talk["a1"].pk, "Short.", 2, 10), CompressionUsage()
    )
    held = talk.held("a3")
    assert held.in_vain == 0


# --- Claims and ends ----------------------------------------------------------------------------------------


def test_of_two_deliveries_one_gets_it(talk: Talk) -> None:
    held = talk.held("a3")
    assert Compression.objects.claim(held.pk, owner=8) is None


def test_a_lease_that_ran_out_can_be_taken_and_the_first_writes_nothing(talk: Talk) -> None:
    first = talk.held("a3")
    Compression.objects.update(lease_until=Now() - LONG_AGO)
    second = Compression.objects.claim(first.pk, owner=8)
    assert second
    assert second.attempt == 2
    assert not first.extend_lease()
    assert not compression_requests.start(first, tokens_before=9, reserved_tokens=1, history_window=9)
    assert (
        compression_requests.finish(first, NewSummary(talk["a1"].pk, "Late.", 2, 10), CompressionUsage())
        is None
    )
    assert summaries.find_summary_for_branch(talk["a3"]) is None
    assert second.extend_lease()


def test_done_stores_the_summary_and_sockets_hear_what_was_gained(talk: Talk) -> None:
    held = talk.held("a3")
    assert compression_requests.start(held, tokens_before=900, reserved_tokens=100, history_window=1000)
    assert compression_requests.start(held, tokens_before=900, reserved_tokens=100, history_window=1000)
    made = compression_requests.finish(
        held, NewSummary(talk["a1"].pk, "Short.", 2, 300), CompressionUsage(800, 50, Decimal("0.01"))
    )
    assert made
    assert made.parent == talk["u3"]
    found = summaries.find_summary_for_branch(talk["a3"])
    assert found == summaries.Summary(made.pk, "Short.", 2, talk["a1"].pk)
    ended = again(held)
    assert (ended.status, ended.summary, ended.saved_tokens) == ("done", made, 600)
    assert talk.heard() == [
        {"status": "started", "tokens_before": 900},
        {"status": "done", "tokens_before": 900, "tokens_after": 300},
    ]
    talk.session.refresh_from_db()
    assert talk["u3"].latest_child is None


def test_the_same_cutoff_twice_is_one_summary(talk: Talk) -> None:
    first = compression_requests.finish(
        talk.held("a3"), NewSummary(talk["a1"].pk, "First.", 2, 10), CompressionUsage()
    )
    second = compression_requests.finish(
        talk.held("a3"), NewSummary(talk["a1"].pk, "Second.", 2, 10), CompressionUsage()
    )
    assert first == second


def test_nothing_to_do_is_not_announced_and_failure_is(talk: Talk) -> None:
    assert compression_requests.end_without_summary(talk.held("a3"), CompressionStatus.NOTHING)
    assert talk.heard() == []
    assert compression_requests.end_without_summary(
        talk.held("a3"), CompressionStatus.FAILED, "upstream_timeout"
    )
    assert talk.heard() == [{"status": "failed"}]


# --- Which summary a branch uses ---------------------------------------------------------------------------


def summarised(talk: Talk, leaf: str, cutoff: str) -> ChatMessage:
    made = compression_requests.finish(
        talk.held(leaf), NewSummary(talk[cutoff].pk, f"Up to {cutoff}.", 3, 10), CompressionUsage()
    )
    assert made
    return made


def used(talk: Talk, leaf: str) -> str | None:
    found = summaries.find_summary_for_branch(talk[leaf])
    return found.text if found else None


def test_a_summary_holds_where_its_parent_is_on_the_branch(talk: Talk) -> None:
    summarised(talk, "a2", "a1")
    summarised(talk, "a3", "a2")
    talk.add(4, talk["a3"])
    assert (used(talk, "a4"), used(talk, "u3"), used(talk, "a2")) == ("Up to a2.", "Up to a2.", "Up to a1.")
    assert used(talk, "a1") is None
    # After an edit that leaves the newest one's parent behind, the older one holds.
    talk.add(5, talk["a2"])
    assert used(talk, "a5") == "Up to a1."


def test_sibling_answers_share_a_summary(talk: Talk) -> None:
    summarised(talk, "a3", "a2")
    sibling = ChatMessage.objects.append(talk["u3"], role=Role.ASSISTANT, text="Another answer")
    found = summaries.find_summary_for_branch(sibling)
    assert found
    assert found.text == "Up to a2."


def test_a_summary_without_its_cutoff_is_not_used(talk: Talk) -> None:
    made = summarised(talk, "a3", "a2")
    ChatMessage.objects.filter(pk=made.pk).update(last_summarized_message=None)
    assert used(talk, "a3") is None


# --- The sweeper --------------------------------------------------------------------------------------------


def test_a_lost_message_is_sent_again(talk: Talk) -> None:
    asked = talk.ask("a3")
    assert asked
    assert queued()
    assert sweep(trust_locks=False).compressions == 0
    Compression.objects.update(queued_at=Now() - LONG_AGO)
    assert sweep(trust_locks=False).compressions == 1
    assert sweep(trust_locks=False).compressions == 0  # the queue is not empty: workers are busy
    assert queued() == [str(asked.pk)]


def test_a_dead_worker_loses_it_and_after_three_deaths_it_fails(talk: Talk) -> None:
    held = talk.held("a3")
    compression_requests.start(held, tokens_before=900, reserved_tokens=100, history_window=1000)
    for death in range(3):
        queued()
        Compression.objects.update(lease_until=Now() - LONG_AGO)
        assert sweep(trust_locks=False).compressions == 1
        if death < 2:
            assert queued() == [str(held.pk)]
            assert Compression.objects.claim(held.pk, owner=8 + death)
    ended = again(held)
    assert (ended.status, ended.error_code) == ("failed", "worker_lost")
    assert [one["status"] for one in talk.heard()] == ["started", "failed"]
    assert ended.retry_at


def test_one_that_lives_is_left_alone(talk: Talk) -> None:
    held = talk.held("a3")
    assert sweep(trust_locks=False).compressions == 0
    assert again(held).status == "running"
