"""The database gives an attempt's number twice: after a failover to a replica that had not received the first claim.

The log then holds packets of an attempt that the database does not know. Readers never see two attempts mixed.
"""

import pytest

from chat.events import session_events
from chat.log.stream import Cursor, append_now, delete_logs, event_log, position_now, read_now, run_log
from chat.models import Run, Session
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.protocol.wire import MessageDelta, Packet, Placement, RunAddress, RunStart, Stop, encode
from chat.runs import completion
from chat.runs.orphans import end_orphan, publish_end
from tests.factories import create_user
from tests.llm_worker.outcomes import wait_for_text
from tests.llm_worker.screens import entries, live, rebuilt


def use_number(run: Run, attempt: int, packets: int = 40) -> None:
    """Append what a worker wrote whose claim the database has lost."""
    log = run_log(run.turn.session_id, run.pk)._replace(claim="lost")
    address = RunAddress(str(run.turn.session_id), str(run.pk), attempt, 0)
    said = [RunStart(model=run.model), *(MessageDelta(text=f"lost {n} ") for n in range(packets - 1))]
    lines = [
        encode(Packet(address.session, address.run, attempt, seq, Placement(), obj))
        for seq, obj in enumerate(said, start=1)
    ]
    append_now(log, attempt, 1, lines)


def assert_whole(run: Run, status: Status, attempt: int) -> None:
    """The log holds one attempt from its beginning to its stop, and its text is the stored text."""
    run.refresh_from_db()
    assert (run.status, run.attempt, run.failures) == (status, attempt, 0)
    held = entries(run)
    assert {entry.attempt for entry in held} == {attempt}
    assert isinstance(held[-1].obj, Stop)
    assert run.announced_at is not None
    assert "lost" not in str(held)


@pytest.mark.parametrize("used", [1, 4], ids=["the same number", "a higher one"])
def test_an_attempt_whose_number_is_used_takes_one_above(ask, deliver, upstream, used):
    upstream.reply({"text": "The Moon."})
    [run] = ask()
    use_number(run, used)
    assert deliver(run).result(60)
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Status.QUEUED, used)
    assert run.history[-1]["why"] == "number_used"
    assert deliver(run).result(60)
    assert_whole(run, Status.COMPLETED, used + 1)
    assert live(run) == rebuilt(run)


def test_an_end_that_was_committed_as_the_number_was_used_is_published_above(
    ask, deliver, upstream, monkeypatch
):
    upstream.reply({"text": "The Moon."})
    [run] = ask()
    commit = completion.commit_end

    def commit_and_use(*given):
        delete_logs(run_log(run.turn.session_id, run.pk))
        use_number(run, 3)
        return commit(*given)

    monkeypatch.setattr(completion, "commit_end", commit_and_use)
    assert deliver(run).result(60)
    assert_whole(run, Status.COMPLETED, 4)
    assert entries(run)[0].message["text"] == "The Moon."


def test_the_end_of_a_run_without_a_worker_is_published_above(ask):
    [run] = ask()
    use_number(run, 1)
    assert end_orphan(Run.objects.for_work().get(pk=run.pk), Status.STOPPED)
    assert_whole(run, Status.STOPPED, 2)
    publish_end(run.pk)
    assert_whole(run, Status.STOPPED, 2)


def test_a_worker_cannot_end_a_run_that_another_one_has_under_the_same_number(ask):
    [run] = ask()
    claimed = Run.objects.claim(run.pk, 3)
    Run.objects.filter(pk=run.pk).update(owner=5)
    end = RunOutcome(Status.COMPLETED, last_seq=2, text="lost")
    assert not completion.commit_end(run.pk, claimed.attempt, end, 3)
    assert completion.commit_end(run.pk, claimed.attempt, end, 5)


def test_a_process_that_is_given_its_own_run_again_goes_on_with_one_attempt(ask, deliver, upstream):
    upstream.reply({"words": 3}, {"wait": "the failover"}, {"words": 3})
    [run] = ask()
    first = deliver(run)
    wait_for_text(upstream, run, len("0 1 2 "))
    Run.objects.filter(pk=run.pk).update(
        status=Status.QUEUED, attempt=0, owner=None, lease_until=None, beat_at=None, claimed_at=None
    )
    upstream.reply({"text": "The Moon."})
    second = deliver(run)
    assert first.result(60)
    upstream.release("the failover")
    assert second.result(60)
    assert deliver(run).result(60)
    assert_whole(run, Status.COMPLETED, 2)


def test_an_event_under_a_used_number_reaches_readers_under_one_above(transactional_db):
    session = Session.objects.start(create_user("alice"))
    line = b'{"type":"session","n":%d,"title":"lost"}'
    append_now(event_log(session.pk), 1, 1, [line % n for n in range(1, 6)])
    for title in ("One", "Two"):
        session_events.record(session, "session", {"title": title})
    assert position_now(event_log(session.pk)) == (1, 7)
    sent = read_now(event_log(session.pk), Cursor(1, 5)).lines
    assert [n for n, _ in sent] == [6, 7]
    assert [b"One" in sent[0][1], b"Two" in sent[1][1]] == [True, True]
    assert [n for n, _ in session_events.frames_after(session.pk, 5, 10)] == [6, 7]


def test_an_event_that_is_published_twice_keeps_its_number(transactional_db):
    session = Session.objects.start(create_user("alice"))
    event = session.record("session", {"b": 1, "a": "ä"})
    session_events.publish(event)
    event.payload = {"a": "ä", "b": 1}
    session_events.publish(event)
    assert position_now(event_log(session.pk)) == (1, event.n)
