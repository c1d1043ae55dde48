"""The end of a turn, announced in one round trip or in several: the same rows and the same event, published once."""

import pytest
from django.db import DatabaseError, transaction

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, read_now
from chat.models import Run, Session, Turn
from chat.models.outcome import RunOutcome
from chat.models.sql import statements
from chat.models.sql.statements import Statement
from chat.models.sql.turns import EndedTurn
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from tests import factories
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ended(transactional_db):
    """A function: alice asks in a session with a title; the run ends so, and nobody has said it."""
    api, session = factories.session_of_alice()
    Session.objects.filter(pk=session).update(title="Tides")

    def end(status: Status = Status.COMPLETED, **asked) -> list[Run]:
        runs = factories.send_turn(api, session, **asked).json()["runs"]
        return [committed(run["id"], status) for run in runs]

    return end


def committed(run_id: str, status: Status) -> Run:
    run = Run.objects.claim(run_id, owner=1)
    assert run is not None
    if status == Status.STOPPED:
        Run.objects.filter(pk=run_id).move(Status.STOPPING)
    assert commit_end(run.pk, run.attempt, RunOutcome(status, last_seq=3))
    return run


def stops(session: Session) -> list[dict]:
    return [event.payload for event in session.events.filter(kind="overall_stop")]


def announce_in_steps(run_id) -> None:
    with transaction.atomic():  # where it is not alone, it is not one round trip
        announce(run_id)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(Status.COMPLETED, "finished"), (Status.FAILED, "error"), (Status.STOPPED, "user_cancelled")],
)
@pytest.mark.parametrize("say", [announce, announce_in_steps])
def test_a_turn_ends_the_same_however_it_is_said(ended, say, status, reason):
    [run] = ended(status)
    listener = sync_redis().pubsub()
    listener.subscribe(f"turnwire:user:{run.turn.session.owner_id}:sessions")
    assert listener.get_message(timeout=5)
    say(run.pk)
    session = Session.objects.get(pk=run.turn.session_id)
    assert stops(session) == [{"turn": str(run.turn_id), "stop_reason": reason}]
    assert session.answered_event == session.latest_event == 2
    assert Turn.objects.get().ended_at
    assert Run.objects.get().announced_at
    list_message = listener.get_message(timeout=5)["data"]
    assert b'"is_answering":false' in list_message
    assert b'"is_unread":true' in list_message
    assert [n for n, _ in read_now(event_log(session.pk)).lines] == [1, 2]


def test_said_again_by_many_at_once_it_is_told_once(ended):
    [run] = ended()
    run_concurrently(*[lambda: announce(run.pk)] * 4)
    announce(run.pk)
    assert len(stops(run.turn.session)) == 1


def test_of_several_models_the_last_ends_the_turn(ended):
    factories.create_model("slow")
    first, last = ended(models=["quick", "slow"])
    announce(first.pk)
    assert not stops(first.turn.session)
    announce(last.pk)
    assert len(stops(last.turn.session)) == 1


def test_what_goes_together_is_done_as_a_whole_or_not_at_all(ended):
    [run] = ended()
    rename = Statement("UPDATE chat_session SET title = 'Waves' RETURNING id", EndedTurn).query()
    failing = Statement("SELECT 1 / 0", EndedTurn).query()
    with pytest.raises(DatabaseError):
        run_concurrently(lambda: statements.together(rename, failing))
    assert Session.objects.get(pk=run.turn.session_id).title == "Tides"
