"""The run page tells an operator what goes on, and two actions do something about it."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from chat.models import Run
from chat.states import Status
from tests.chat import broker, cast

pytestmark = pytest.mark.django_db
LIST = "admin:chat_run_changelist"


@pytest.fixture
def run() -> Run:
    return cast.asked()


def act(client: Client, action: str, run: Run) -> str:
    response: Any = client.post(reverse(LIST), {"action": action, "_selected_action": [run.pk]}, follow=True)
    return response.content.decode()


def test_the_page_tells_owner_beats_timings_and_error(run: Run) -> None:
    Run.objects.claim(run.pk, owner=4711)
    page = (
        cast.staff("view_run").get(reverse("admin:chat_run_change", args=[run.pk])).content.decode().lower()
    )
    for shown in (
        "4711",
        "lease until",
        "beat at",
        "waited (s)",
        "error code",
        "failures",
        "since its latest beat",
    ):
        assert shown in page


def test_a_run_is_stopped(run: Run) -> None:
    page = act(cast.staff("view_run", "change_run"), "stop", run)
    assert f"Stop {run.pk}: stopped" in page
    assert Run.objects.get(pk=run.pk).status == Status.STOPPED
    assert LogEntry.objects.get().change_message == "Stop: stopped"


def test_a_run_is_enqueued_again(run: Run) -> None:
    page = act(cast.staff("view_run", "change_run"), "requeue", run)
    assert f"Re-queue {run.pk}: enqueued" in page
    assert broker.queued_run_ids() == [str(run.pk)]


@pytest.mark.parametrize("action", ["stop", "requeue"])
def test_who_may_only_look_can_do_neither(run: Run, action: str) -> None:
    client = cast.staff("view_run")
    act(client, action, run)
    assert Run.objects.get(pk=run.pk).status == Status.QUEUED
    assert broker.queued_run_ids() == []
    assert 'value="stop"' not in client.get(reverse(LIST)).content.decode()
