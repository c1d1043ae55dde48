"""The admin's overview pages: who sees them, queues and workers."""

import os
import re
import socket
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import reverse
from django.utils import timezone

from chat.infrastructure.liveness import Lock, new_owner
from chat.metrics.counters import TAKEOVERS
from chat.metrics.presence import Work
from chat.metrics.tally import Tally
from chat.models import Run
from knowledge.models import File
from tests import broker, factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    return factories.queued_run()


def page(client: Client, name: str, **query: Any) -> str:
    return client.get(reverse(f"admin:{name}"), query).content.decode()


def test_queues_tell_what_waits_in_the_database_and_at_the_broker(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - timedelta(seconds=90))
    shown = factories.staff_client("view_run").get(reverse("admin:workers")).context["queues"]
    [queue] = [one for one in shown if one["name"] == "llm"]
    assert (queue["waiting"], queue["blocked"], queue["messages"]) == (1, 0, len(broker.queued()))
    assert queue["oldest"].total_seconds() >= 90


def test_files_that_wait_to_be_read_are_a_queue_as_well(run: Run) -> None:
    owner = run.turn.session.owner
    since = timezone.now() - timedelta(seconds=90)
    _, held = (File.objects.create(owner=owner, name=name, queued_at=since) for name in ("a", "b"))
    assert File.objects.claim(held.pk)
    File.objects.create(owner=owner, name="c", status="ready")
    shown = factories.staff_client("view_run").get(reverse("admin:workers")).context["queues"]
    [queue] = [one for one in shown if one["name"] == "ingest"]
    assert (queue["waiting"], queue["blocked"]) == (1, 0)
    assert queue["oldest"].total_seconds() >= 90


def test_a_worker_is_shown_with_its_runs_whether_it_lives_or_not(run: Run) -> None:
    living, idle = Lock(new_owner()), Lock(new_owner())
    assert living.hold()
    assert idle.hold()
    try:
        Run.objects.claim(run.pk, living.number)
        client = factories.staff_client("view_run")
        rows = client.get(reverse("admin:workers")).context["workers"]
        busy, *others = rows
        assert (busy.owner, busy.has_lock, busy.runs) == (living.number, True, 1)
        assert [one.pk for one in busy.shown] == [run.pk]
        assert busy.silent_s is not None
        assert idle.number in [one.owner for one in others]
        living.release()
        assert "no lock" in page(client, "workers")
    finally:
        living.release()
        idle.release()


@override_settings(LLM_CONCURRENCY=7_777)
def test_the_page_says_nothing_of_workers_that_only_they_know(run: Run) -> None:
    """The setting of web is not that of the workers."""
    assert Run.objects.claim(run.pk, 7)
    shown = page(factories.staff_client("view_run"), "workers")
    assert reverse("admin:chat_run_change", args=[run.pk]) in shown
    assert re.findall("7[^0-9]?777", shown) == []


def test_workers_and_queues_show_what_each_process_says_of_itself(run: Run) -> None:
    owner = Lock(new_owner())
    assert owner.hold()
    said = Tally("llm", lambda: Work(("llm", "slow"), 50, 3, owner=owner.number))
    said.push()
    try:
        context = factories.staff_client("view_run").get(reverse("admin:workers")).context
        [worker] = [one for one in context["workers"] if one.owner == owner.number]
        assert (worker.process.host, worker.process.pid) == (socket.gethostname(), os.getpid())
        served = {one["name"]: one["pool"] for one in context["queues"]}
        assert (served["slow"].workers, served["slow"].slots, served["slow"].busy) == (1, 50, 3)
        assert served["compression"] is None
    finally:
        said.end()
        owner.release()


def test_takeovers_are_listed_and_counted(run: Run) -> None:
    claimed = Run.objects.claim(run.pk, 7)
    assert claimed
    assert claimed.release("owner_dead", failures=1)
    TAKEOVERS.inc()
    Tally("sweeper").push()
    shown = page(factories.staff_client("view_run"), "workers")
    assert reverse("admin:chat_run_change", args=[run.pk]) in shown
    assert "Runs taken from a dead worker" in shown
    assert "sweeper" in shown


@pytest.mark.parametrize("name", ["usage", "workers"])
def test_more_runs_take_no_more_queries(run: Run, name: str) -> None:
    factories.finish_run(str(run.pk))
    alice, session = factories.api_client(run.turn.session.owner), run.turn.session_id
    factories.send_turn(alice, session, "Waits")
    Run.objects.update(failures=1)
    client, url = factories.staff_client("view_run"), reverse(f"admin:{name}")
    client.get(url)
    with CaptureQueriesContext(connection) as before:
        client.get(url)
    for number in range(5):
        factories.send_turn(alice, session, f"Waits, too: {number}")
    Run.objects.update(failures=1)
    with CaptureQueriesContext(connection) as after:
        client.get(url)
    assert len(after) == len(before)


@pytest.mark.parametrize("name", ["usage", "workers"])
def test_only_who_may_see_runs_sees_them(db: None, name: str) -> None:
    url = reverse(f"admin:{name}")
    client = factories.staff_client("view_session")
    assert client.get(url).status_code == 403
    assert url not in client.get(reverse("admin:index")).content.decode()
    assert Client().get(url).status_code == 302


def test_they_are_listed_on_the_first_page(db: None) -> None:
    shown = page(factories.staff_client("view_run"), "index")
    assert reverse("admin:usage") in shown
    assert reverse("admin:workers") in shown
