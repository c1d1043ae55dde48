"""Whose turn it is, is found by index: among any number of users and runs, for the same work, and after the copies on
the rows have drifted."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from chat.models import ChatMessage, ModelConfig, Role, Run, Session, Turn
from chat.models.sql.claims import CLAIM_FAIREST
from chat.models.sql.statements import insert
from chat.protocol.states import HELD, Status
from chat.runs import task_queue
from chat.sweeper.runs import sweep
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[..., list[Run]]
SLOTS = 8


def fill(users: Sequence[User], waiting: int, running: int = 0) -> list[Run]:
    """Add runs of the users in turn, each in a chat of its own: those that a worker holds, and those that wait."""
    model, _ = ModelConfig.objects.get_or_create(
        name="scripted", defaults={"base_url": "http://127.0.0.1:1/v1"}
    )
    began = timezone.now() - timedelta(minutes=1)
    runs: list[Run] = []
    with transaction.atomic():
        roots = {user.pk: ChatMessage.objects.root_of(Session.objects.start(user)) for user in users}
        for number in range(running + waiting):
            root = roots[users[number % len(users)].pk]
            question = ChatMessage.objects.draft(root, role=Role.USER, text="?", token_count=1)
            turn = Turn(session=root.session, user_message=question, created_at=began)
            is_held = number < running
            runs.append(
                Run(
                    turn=turn,
                    message=ChatMessage.objects.draft(question, role=Role.ASSISTANT),
                    model_config=model,
                    model=model.name,
                    model_index=0,
                    asker_id=root.session.owner_id,
                    ready_queue=model.queue,
                    created_at=began,
                    deadline=began + timedelta(hours=1),
                    status=Status.RUNNING if is_held else Status.QUEUED,
                    owner=1 if is_held else None,
                    attempt=int(is_held),
                    lease_until=began + timedelta(hours=1) if is_held else None,
                )
            )
        insert([run.turn.user_message for run in runs])
        insert([run.message for run in runs])
        insert([run.turn for run in runs])
        insert(runs)
        for place, run in enumerate(runs, start=Run.objects.count()):
            Run.objects.filter(pk=run.pk).update(queued_at=began + timedelta(milliseconds=place))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return runs


def people(number: int) -> list[User]:
    return [factories.create_user(f"user{place}") for place in range(number)]


def claim(run: Run, queue: str = "llm") -> UUID | None:
    """Claim for the message of this run; return the id of the claimed one."""
    claimed = Run.objects.claim_fairly(run.pk, queue, owner=1)
    return claimed.pk if claimed else None


def pages_read(run: Run) -> int:
    """Return how many pages of tables and indexes a claim reads that chooses among all."""
    parameters: dict[str, Any] = {"run": run.pk, "queue": "llm", "owner": 1, "lease": timedelta(seconds=10)}
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {CLAIM_FAIREST.sql}", parameters)
        [(explained,)] = cursor.fetchall()
        transaction.set_rollback(True)
    plan = (explained if isinstance(explained, list) else json.loads(explained))[0]["Plan"]
    assert plan["Actual Rows"] == 1
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.parametrize("number_of_users", [1, 40])
def test_a_claim_reads_no_more_among_thousands_of_runs(number_of_users: int) -> None:
    """Of one user, all of whose runs must be passed over, and of many, who hold all slots."""
    users = people(number_of_users)
    few = fill(users, waiting=600, running=SLOTS)
    among_few = pages_read(few[-1])
    many = fill(users, waiting=3000)
    assert pages_read(many[-1]) < 1.5 * among_few + 10


def test_each_claim_is_of_the_user_with_the_fewest_then_of_the_run_that_waits_longest() -> None:
    """Against all live runs, sorted: users with any number of waiting and held runs, and messages in any order."""
    chance = random.Random(8)
    users = people(12)
    runs = [
        run
        for _ in range(6)
        for run in fill(chance.sample(users, chance.randint(1, 12)), chance.randint(1, 30))
    ]
    places = list(range(len(runs)))
    chance.shuffle(places)
    began = timezone.now() - timedelta(minutes=5)
    for place, run in zip(places, runs, strict=True):
        Run.objects.filter(pk=run.pk).update(queued_at=began + timedelta(milliseconds=place))
    messages = chance.sample(runs, len(runs))
    for number, message in enumerate(messages):
        if number % 5 == 0:  # an answer ends
            running = list(Run.objects.filter(status=Status.RUNNING).order_by("queued_at")[:3])
            if running:
                ended = Run.objects.filter(pk=chance.choice(running).pk)
                ended.update(status=Status.COMPLETED, ended_at=timezone.now(), last_seq=1, lease_until=None)
        live = list(Run.objects.live())
        held_by = Counter(run.asker_id for run in live if run.status in HELD)
        waiting = [run for run in live if run.status == Status.QUEUED]
        first = min(
            waiting,
            key=lambda run, named=message.pk: (held_by[run.asker_id], run.pk != named, run.queued_at),  # type: ignore[misc]
        )
        assert claim(message) == first.pk, number


def test_a_run_is_in_line_once_the_turn_before_its_own_has_ended(ask: Ask) -> None:
    done, before, follower = ask()[0], ask()[0], ask()[0]
    Turn.objects.filter(pk=follower.turn_id).update(after=before.turn)
    Run.objects.filter(pk=follower.pk).update(ready_queue=None)
    Run.objects.update(queued_at=timezone.now() - timedelta(minutes=1))
    assert claim(done) == done.pk
    factories.finish_run(str(before.pk))
    assert claim(done) == follower.pk


class TestDrift:
    @pytest.fixture
    def backlog(self, ask: Ask) -> list[Run]:
        """A run that has been claimed, and one that waits and of which no index knows."""
        done, lost = ask()[0], ask()[0]
        waited = timezone.now() - timedelta(minutes=1)
        Run.objects.filter(pk__in=[done.pk, lost.pk]).update(queued_at=waited)
        assert claim(done) == done.pk
        Run.objects.filter(pk=lost.pk).update(asker_id=None, ready_queue=None)
        return [done, lost]

    def test_a_run_of_the_version_before_is_claimed_by_its_own_message(self, backlog: list[Run]) -> None:
        done, lost = backlog
        assert claim(done) is None
        assert claim(lost) == lost.pk

    def test_the_sweeper_lines_a_run_up_again(self, backlog: list[Run], monkeypatch: Any) -> None:
        done, lost = backlog
        monkeypatch.setattr(task_queue, "queue_length", lambda _: 1)  # its message is not lost
        sweep(trust_locks=False)
        assert claim(done) == lost.pk

    def test_a_run_that_a_worker_of_the_version_before_holds_counts_for_its_user(
        self, backlog: list[Run]
    ) -> None:
        held_by = backlog[0].turn.session.owner_id
        Run.objects.update(asker_id=None, ready_queue=None)
        sweep(trust_locks=False)
        assert set(Run.objects.values_list("asker_id", "ready_queue")) == {(held_by, "llm")}

    def test_a_run_follows_its_model_to_another_queue(self, backlog: list[Run], monkeypatch: Any) -> None:
        done, lost = backlog
        monkeypatch.setattr(task_queue, "queue_length", lambda _: 1)
        ModelConfig.objects.update(queue="large")
        sweep(trust_locks=False)
        assert claim(done) is None
        assert claim(done, "large") == lost.pk
