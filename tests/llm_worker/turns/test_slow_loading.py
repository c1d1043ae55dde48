"""A branch that is read slowly delays its own run alone: no lock is held meanwhile, and the run ends by itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from chat.infrastructure.liveness import connect
from chat.models import Run
from chat.protocol.states import Status
from llm_worker.attempt import attempt
from llm_worker.loading import claim
from tests.llm_worker.outcomes import ended


@contextmanager
def locked(statement: str, *parameters: object) -> Iterator[None]:
    """Hold what `statement` locks, in a transaction of another connection."""
    with connect() as other, other.transaction():
        other.execute(statement, parameters)
        yield


def test_the_claim_is_committed_before_the_branch_is_read(deliver: Any, ask: Any, upstream: Any) -> None:
    [run] = ask()
    # Every reader of a branch waits for this table.
    with locked("LOCK TABLE chat_promptblock IN ACCESS EXCLUSIVE MODE"):
        future = deliver(run)
        upstream.wait_for(lambda: Run.objects.get(pk=run.pk).status == Status.RUNNING)
        with transaction.atomic():
            assert Run.objects.select_for_update(nowait=True).get(pk=run.pk).attempt == 1
    assert future.result(60) is True
    ended(run, Status.COMPLETED)


def test_a_slow_branch_of_one_run_does_not_cost_another_its_lease(
    deliver: Any, ask: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More runs than there are threads are being loaded, and their leases are extended all the same."""
    monkeypatch.setattr(claim, "READ_LIMIT_MS", 50)
    runs = [ask()[0] for _ in range(12)]
    with locked("LOCK TABLE chat_promptblock IN ACCESS EXCLUSIVE MODE"):
        futures = [deliver(run) for run in runs]
        upstream.wait_for(lambda: Run.objects.filter(status=Status.RUNNING).count() == len(runs))
        for _ in range(2):
            wait_for_beats(upstream, dict(Run.objects.values_list("pk", "beat_at")))
    assert all(future.result(60) for future in futures)
    for run in runs:
        ended(run, Status.COMPLETED)
        assert Run.objects.get(pk=run.pk).attempt == 1


def wait_for_beats(upstream: Any, before: dict[Any, Any]) -> None:
    """Until each of these leases was extended."""
    upstream.wait_for(lambda: all(run.beat_at > before[run.pk] for run in Run.objects.all()))


def test_a_run_whose_branch_takes_too_long_fails_by_itself(
    deliver: Any, ask: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: object) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '50ms'")
            cursor.execute("SELECT pg_sleep(600)")

    monkeypatch.setattr(claim, "build_brief", slow)
    monkeypatch.setattr(attempt, "build_brief", slow)
    [run] = ask()
    assert deliver(run).result(60) is True
    ended(run, Status.FAILED, code="deadline_exceeded", text="")
    assert not upstream.requests


def test_a_long_branch_is_built_beside_the_threads_that_claim(
    deliver: Any, ask: Callable[..., list[Run]], upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim, "MOST_MESSAGES", 0)
    [run] = ask()
    claimed = claim.claim_run(run.pk, owner=1)
    assert claimed is not None
    assert claimed.brief is None
    assert claimed.rows is not None
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00Z")
    assert deliver(run).result(60) is True
    ended(run, Status.COMPLETED)
