"""Whatever dies, every run ends: the sweeper's moves, each against real Postgres and Valkey."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from amqp.exceptions import AccessRefused
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.infrastructure import liveness
from chat.infrastructure.redis_client import sync_redis
from chat.log import stream
from chat.models import ChatMessage, ModelConfig, Role, Run, Session, Turn
from chat.models.lease import MAX_FAILURES
from chat.models.outcome import RunOutcome
from chat.protocol import wire
from chat.protocol.states import Status
from chat.runs import task_queue
from chat.runs.completion import commit_end
from chat.sweeper import runs as sweeper_runs
from chat.sweeper.runs import sweep

pytestmark = pytest.mark.django_db(transaction=True)
AGES = timedelta(hours=1)


@pytest.fixture(autouse=True)
def empty_redis() -> Iterator[None]:
    sync_redis().flushdb()
    yield
    sync_redis().flushdb()


@pytest.fixture
def run() -> Run:
    """alice's question, its answer queued."""
    alice = get_user_model().objects.create_user("alice")
    session = Session.objects.start(alice)
    question = ChatMessage.objects.append(ChatMessage.objects.root_of(session), role=Role.USER, text="Why?")
    answer = ChatMessage.objects.append(question, role=Role.ASSISTANT)
    turn = Turn.objects.create(session=session, user_message=question)
    model = ModelConfig.objects.create(name="tides")
    deadline = timezone.now() + timedelta(seconds=settings.RUN_DEADLINE_S)
    return Run.objects.create(
        turn=turn, message=answer, model_config=model, model=model.name, model_index=0, deadline=deadline
    )


@pytest.fixture
def worker() -> Iterator[liveness.Lock]:
    """A worker process that lives: it holds its lock."""
    lock = liveness.Lock(liveness.new_owner())
    lock.hold()
    yield lock
    lock.release()


def claimed(run: Run, owner: int, **fields: Any) -> Run:
    found = Run.objects.claim(run.pk, owner)
    assert found is not None
    if fields:
        Run.objects.filter(pk=run.pk).update(**fields)
    return Run.objects.get(pk=run.pk)


def test_a_sweep_that_finds_nothing_asks_two_questions(run: Run) -> None:
    Run.objects.filter(pk=run.pk).line_up()
    sweep(trust_locks=True)
    with CaptureQueriesContext(connection) as asked:
        assert str(sweep(trust_locks=True)) == ""
    assert len(asked) == 2  # what is to be repaired, and which events are recent


def test_a_sweep_finds_a_run_of_the_version_before_when_nothing_else_is_to_be_repaired(run: Run) -> None:
    assert run.asker_id is None
    sweep(trust_locks=True)
    assert Run.objects.get(pk=run.pk).asker_id == run.turn.session.owner_id


def test_a_sweep_finds_a_lost_message_when_nothing_else_is_to_be_repaired(run: Run) -> None:
    Run.objects.filter(pk=run.pk).line_up()
    assert sweep(trust_locks=True).woken == 0
    Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - AGES)
    assert sweep(trust_locks=True).woken == 1


def die(worker: liveness.Lock) -> None:
    """Its connection is closed, and Postgres has noticed."""
    worker.release()
    limit = time.monotonic() + 60
    held = f"SELECT {liveness.LOCK_IS_HELD.format(owner='%s')}"
    while connection.cursor().execute(held, [worker.number]).fetchone()[0]:
        assert time.monotonic() < limit
        time.sleep(0.01)


def again(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def logged(run: Run) -> list[str]:
    """Types of what the run's log holds, oldest first."""
    lines = stream.read_now(stream.run_log(run.turn.session_id, run.pk)).lines
    entries = [wire.decode_log_entry(line) for _, line in lines]
    return ["snapshot" if isinstance(entry, wire.Snapshot) else type(entry.obj).__name__ for entry in entries]


def test_a_run_of_a_live_worker_is_left_alone(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number, beat_at=timezone.now() - timedelta(seconds=5))
    assert str(sweep(trust_locks=True)) == ""
    assert again(run).status == Status.RUNNING


def test_a_free_lock_and_a_missed_beat_are_a_death(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number, beat_at=timezone.now() - timedelta(seconds=5))
    die(worker)
    assert sweep(trust_locks=True).taken_over == 1
    found = again(run)
    assert (found.status, found.failures, found.owner) == (Status.QUEUED, 1, None)
    assert task_queue.queue_length("llm") == 1


def test_a_free_lock_beside_a_fresh_beat_is_not(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number)
    die(worker)
    assert str(sweep(trust_locks=True)) == ""


def test_after_a_restart_of_postgres_free_locks_bury_nobody(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number, beat_at=timezone.now() - timedelta(seconds=5))
    die(worker)
    assert str(sweep(trust_locks=False)) == ""


def test_a_lease_that_ran_out_is_a_death_whatever_the_lock_says(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number, lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep(trust_locks=True).taken_over == 1


def test_a_run_that_kills_its_workers_fails_in_the_end(run: Run) -> None:
    claimed(run, 1, failures=MAX_FAILURES - 1, lease_until=timezone.now() - AGES)
    assert sweep(trust_locks=False).lost == 1
    found = again(run)
    assert (found.status, found.error_code) == (Status.FAILED, "worker_lost")
    assert logged(run) == ["snapshot", "Stop"]
    assert found.announced_at
    assert found.last_seq == 1


@pytest.mark.parametrize("lease", [AGES, -AGES], ids=["its lease still runs", "its lease ran out"])
def test_a_stop_is_carried_out_for_a_dead_worker(run: Run, lease: timedelta) -> None:
    claimed(run, liveness.new_owner(), status=Status.STOPPING, lease_until=timezone.now() + lease)
    assert sweep(trust_locks=True).stopped == 1
    assert again(run).status == Status.STOPPED
    assert logged(run) == ["snapshot", "Stop"]


def test_a_stop_is_left_to_a_worker_that_lives(run: Run, worker: liveness.Lock) -> None:
    claimed(run, worker.number, status=Status.STOPPING)
    assert str(sweep(trust_locks=True)) == ""


def test_a_lost_message_is_sent_again_when_its_queue_is_empty(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - timedelta(seconds=6))
    assert sweep(trust_locks=True).woken == 1
    assert task_queue.queue_length("llm") == 1
    assert sweep(trust_locks=True).woken == 0, "workers are merely busy"


def test_a_queue_that_the_broker_refuses_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def enqueue(run: str, queue: str) -> None:
        tried.append((run, queue))
        if queue == "slow":
            raise AccessRefused("(403) ACCESS_REFUSED")

    monkeypatch.setattr(task_queue, "enqueue", enqueue)
    lost: Any = [mock.Mock(pk=pk, queue=queue) for pk, queue in ((1, "slow"), (2, "slow"), (3, "llm"))]
    sweeper_runs._enqueue(lost)
    assert tried == [("1", "slow"), ("3", "llm")]


def test_a_turn_that_waits_for_another_is_not_woken(run: Run) -> None:
    before = Turn.objects.create(session=run.turn.session, user_message=run.turn.user_message)
    Turn.objects.filter(pk=run.turn_id).update(after=before)
    Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - AGES)
    assert str(sweep(trust_locks=True)) == ""


def test_a_turn_that_waits_for_another_has_no_deadline_until_that_has_ended(run: Run) -> None:
    """The turn above may wait for its user for days."""
    before = Turn.objects.create(session=run.turn.session, user_message=run.turn.user_message)
    Turn.objects.filter(pk=run.turn_id).update(after=before)
    Run.objects.filter(pk=run.pk).update(deadline=timezone.now() - AGES)
    assert sweep(trust_locks=True).expired == 0
    Turn.objects.filter(pk=before.pk).update(ended_at=timezone.now())
    assert sweep(trust_locks=True).expired == 1


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_run_past_its_deadline_ends(run: Run, worker: liveness.Lock, status: Status) -> None:
    if status == Status.RUNNING:
        claimed(run, worker.number)
    Run.objects.filter(pk=run.pk).update(deadline=timezone.now() - timedelta(seconds=6))
    assert sweep(trust_locks=True).expired == 1
    found = again(run)
    assert (found.status, found.error_code) == (Status.FAILED, "deadline_exceeded")


@pytest.mark.parametrize(
    ("in_the_log", "then"),
    [
        pytest.param(0, ["snapshot", "Stop"], id="a log that was lost is written anew"),
        pytest.param(1, ["snapshot", "Stop"], id="a log that lacks its tail is written anew"),
        pytest.param(
            2, ["RunStart", "MessageDelta", "snapshot", "Stop"], id="a snapshot replaces one missing packet"
        ),
        pytest.param(3, ["RunStart", "MessageDelta", "MessageDelta", "Stop"], id="a missing stop is added"),
    ],
)
def test_an_end_that_nobody_announced_is_announced(run: Run, in_the_log: int, then: list[str]) -> None:
    attempt = claimed(run, 1).attempt
    objs = [wire.RunStart("tides"), wire.MessageDelta("Tw"), wire.MessageDelta("o.")]
    packets = [
        wire.Packet(str(run.turn.session_id), str(run.pk), attempt, seq, wire.Placement(), obj)
        for seq, obj in enumerate(objs[:in_the_log], start=1)
    ]
    log = stream.run_log(run.turn.session_id, run.pk)
    if packets:
        stream.append_now(log, attempt, 1, [wire.encode(packet) for packet in packets])
    assert commit_end(run.pk, attempt, RunOutcome(Status.COMPLETED, last_seq=4, text="Two."))
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(seconds=3))

    assert sweep(trust_locks=True).announced == 1
    assert logged(run) == then
    found = again(run)
    assert found.announced_at
    assert stream.position_now(log) == (found.attempt, found.last_seq)
    assert Turn.objects.get(pk=run.turn_id).ended_at
    assert str(sweep(trust_locks=True)) == ""


def test_events_that_a_crash_kept_from_the_log_are_pushed(run: Run) -> None:
    session = run.turn.session
    session.record("session", {"title": "Tides"})
    assert sweep(trust_locks=True).pushed == 1
    assert stream.position_now(stream.event_log(session.pk)) == (stream.EVENTS_ATTEMPT, 1)
    assert str(sweep(trust_locks=True)) == ""


def test_no_statement_of_a_sweep_reads_all_events_of_all_sessions(run: Run) -> None:
    run.turn.session.record("session", {"title": "Tides"})
    with CaptureQueriesContext(connection) as captured:
        sweep(trust_locks=True)
    reading = [
        one["sql"]
        for one in captured.captured_queries
        if one["sql"].startswith("SELECT") and "chat_sessionevent" in one["sql"]
    ]
    assert reading
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for statement in reading:
            cursor.execute(f"EXPLAIN {statement}")
            assert "Seq Scan on chat_sessionevent" not in str(cursor.fetchall()), statement
