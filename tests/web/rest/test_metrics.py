"""GET /metrics, as Prometheus parses it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from chat.metrics import counters, gauges, tally
from chat.metrics.presence import Work
from chat.models import Run, Turn
from chat.models.outcome import RunOutcome
from chat.protocol import errors
from chat.protocol.states import Status
from chat.transcript.usage import TokenUsage
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def read_metrics() -> dict[str, Metric]:
    """Metric families by name, as a Prometheus server parses them."""
    response = Client().get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain")
    return {family.name: family for family in text_string_to_metric_families(response.content.decode())}


def value(families: dict[str, Metric], sample: str, **labels: str) -> float:
    for family in families.values():
        for one in family.samples:
            if one.name == sample and one.labels == labels:
                return float(one.value)
    raise AssertionError(f"{sample}{labels} is missing")


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    gauges._latest = None
    yield
    gauges._latest = None


@pytest.fixture(autouse=True)
def nothing_else_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that has imported config.asgi has left a thread that pushes what this process counts, every two seconds."""
    monkeypatch.setattr(tally, "_if_possible", lambda _push: None)


@pytest.fixture
def run(transactional_db: None) -> Run:
    """A run of alice's that has been queued for 90 s."""
    factories.create_model("quick", is_default=True)
    client = factories.api_client(factories.create_user("alice"))
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    pk = factories.send_turn(client, session).json()["runs"][0]["id"]
    Run.objects.filter(pk=pk).update(queued_at=timezone.now() - timedelta(seconds=90))
    return Run.objects.get(pk=pk)


def test_live_runs_and_the_age_of_the_queue_come_from_the_database(run: Run) -> None:
    families = read_metrics()
    assert value(families, "turnwire_runs", status="queued", model="quick") == 1
    assert 90 <= value(families, "turnwire_queue_age_seconds", queue="llm") < 1000
    assert value(families, "turnwire_postgres_up") == value(families, "turnwire_redis_up") == 1


def test_a_queue_in_which_nothing_waits_is_told_as_well(run: Run) -> None:
    factories.create_model("deep", queue="gpu")
    assert value(read_metrics(), "turnwire_queue_age_seconds", queue="gpu") == 0


def test_a_turn_that_waits_for_another_does_not_count_as_queued(run: Run) -> None:
    before = Turn.objects.create(session=run.turn.session, user_message=run.turn.user_message)
    Turn.objects.filter(pk=run.turn_id).update(after=before)
    assert value(read_metrics(), "turnwire_queue_age_seconds", queue="llm") == 0


def test_asking_often_asks_the_database_seldom(run: Run) -> None:
    assert value(read_metrics(), "turnwire_runs", status="queued", model="quick") == 1
    factories.finish_run(str(run.pk))
    assert value(read_metrics(), "turnwire_runs", status="queued", model="quick") == 1


def test_an_end_is_counted_with_its_tokens_and_its_first_token(db: None) -> None:
    usage = TokenUsage(prompt_tokens=10, completion_tokens=5, reasoning_tokens=2)
    end = RunOutcome(Status.COMPLETED, last_seq=1, usage=usage, time_to_first_token_ms=1500)
    failed = RunOutcome(Status.FAILED, last_seq=1, error=errors.run_error("worker_lost"))
    model = "counted-model"
    counters.run_ended(model, end)
    counters.run_ended(model, failed)
    tally.Tally("web").push()
    families = read_metrics()
    tokens = {kind: value(families, "turnwire_tokens_total", model=model, kind=kind) for kind in ("prompt", "reasoning")}  # fmt: skip
    assert tokens == {"prompt": 10, "reasoning": 2}
    assert value(families, "turnwire_runs_ended_total", status="completed", model=model) == 1
    assert value(families, "turnwire_run_errors_total", code="worker_lost", model=model) == 1
    below = {le: value(families, "turnwire_time_to_first_token_seconds_bucket", model=model, le=le) for le in ("1.0", "2.0")}  # fmt: skip
    assert below == {"1.0": 0, "2.0": 1}


def test_it_says_so_when_redis_is_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from redis import Redis

    away: Any = Redis(host="127.0.0.1", port=1)
    monkeypatch.setattr(tally, "sync_redis", lambda: away)
    families = read_metrics()
    assert value(families, "turnwire_redis_up") == 0
    assert value(families, "turnwire_postgres_up") == 1


def test_it_says_so_when_postgres_is_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "read", refuse)
    families = read_metrics()
    assert value(families, "turnwire_postgres_up") == 0
    assert value(families, "turnwire_redis_up") == 1
    assert "turnwire_runs" not in families


def refuse() -> list[Metric]:
    raise OperationalError


def test_a_postgres_that_refuses_writes_is_not_up(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_from_a_standby(read: Callable[[], list[Metric]] = gauges.read) -> list[Metric]:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL transaction_read_only = on")
            return read()

    monkeypatch.setattr(gauges, "read", read_from_a_standby)
    families = read_metrics()
    assert value(families, "turnwire_postgres_up") == 0
    assert value(families, "turnwire_redis_up") == 1
    assert value(families, "turnwire_queued_runs", queue="llm") == 0, "what it can be asked is told"


@pytest.mark.usefixtures("full_redis")
def test_a_redis_that_refuses_writes_is_not_up(db: None) -> None:
    families = read_metrics()
    assert value(families, "turnwire_redis_up") == 0
    assert value(families, "turnwire_postgres_up") == 1
    assert "turnwire_queue_workers" in families, "what it can be asked is told"


def test_processes_and_sockets_are_counted_by_role(db: None) -> None:
    tally.Tally("web").push()
    families = read_metrics()
    assert value(families, "turnwire_processes", role="web") >= 1
    assert value(families, "turnwire_sockets") >= 0


def test_each_queue_has_its_workers_their_slots_and_what_waits(db: None) -> None:
    workers = [
        tally.Tally("llm", lambda: Work(("slow",), 50, 3)),
        tally.Tally("llm", lambda: Work(("slow",), 20, 1, is_draining=True)),
    ]
    for worker in workers:
        worker.push()
    families = read_metrics()
    told = {name: value(families, f"turnwire_queue_{name}", queue="slow") for name in ("workers", "slots", "busy", "draining")}  # fmt: skip
    for worker in workers:
        worker.end()
    assert told == {"workers": 1, "slots": 50, "busy": 3, "draining": 1}
    assert value(families, "turnwire_queue_slots", queue="compression") == 0, "nobody reads it"
    assert value(families, "turnwire_queued_runs", queue="llm") == 0


def test_every_metric_has_one_prefix_and_a_meaning(db: None) -> None:
    for family in read_metrics().values():
        assert family.name.startswith("turnwire_")
        assert family.documentation.endswith((".", ")."))
