"""The admin's page of a run, and the actions to stop and re-queue it."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from chat.log.stream import append_now, run_log
from chat.models import Run
from chat.protocol.states import Status
from tests import broker, factories

pytestmark = pytest.mark.django_db
LIST = "admin:chat_run_changelist"


@pytest.fixture
def run() -> Run:
    broker.queued_run_ids()
    return factories.queued_run()


def act(client: Client, action: str, run: Run) -> str:
    response: Any = client.post(reverse(LIST), {"action": action, "_selected_action": [run.pk]}, follow=True)
    return response.content.decode()


def test_the_page_shows_owner_beats_timings_and_error(run: Run) -> None:
    Run.objects.claim(run.pk, owner=4711)
    page = (
        factories.staff_client("view_run")
        .get(reverse("admin:chat_run_change", args=[run.pk]))
        .content.decode()
        .lower()
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


def admin_url(client: Client, run: Run) -> str:
    return client.get(reverse("admin:chat_run_change", args=[run.pk])).content.decode()


def test_the_page_shows_the_history_of_each_attempt(run: Run) -> None:
    first = Run.objects.claim(run.pk, owner=4711)
    assert first
    assert first.release("owner_dead", failures=1)
    Run.objects.claim(run.pk, owner=4712)
    client = factories.staff_client("view_run", "change_run")
    act(client, "requeue", run)
    shown = client.get(reverse("admin:chat_run_change", args=[run.pk])).context
    assert [step.what for step in shown["history"]] == [
        "made", "running", "queued", "running", "Re-queue: a worker holds it"
    ]  # fmt: skip
    assert shown["history"][2].why == "taken from a dead worker"
    assert shown["history"][4].why == "by bob"
    lost, now = shown["attempts"]
    assert (lost.number, lost.owner, lost.outcome) == (1, 4711, "queued")
    assert (now.number, now.owner, now.until) == (2, 4712, None)


def test_packets_are_drawn_when_they_were_appended(run: Run) -> None:
    log = run_log(run.turn.session_id, run.pk)
    kinds = ("run_start", "reasoning_delta", "message_delta", "tool_start", "stop")
    append_now(log, 1, 1, [b'{"obj":{"type":"%s"}}' % kind.encode() for kind in kinds])
    times = (
        factories.staff_client("view_run")
        .get(reverse("admin:chat_run_change", args=[run.pk]))
        .context["times"]
    )
    assert (times.packets, times.attempt, times.note) == (5, 1, "")
    lanes = {lane.name: lane.bars for lane in times.timeline.lanes}
    assert list(lanes) == ["state", "reasoning", "text", "tools", "other"]
    assert [bar.title for bar in lanes["text"]] == ["1 packets"]
    assert all(0 < bar.x <= times.timeline.width for bars in lanes.values() for bar in bars)


def test_an_expired_log_is_reported(run: Run) -> None:
    assert "The packet log is gone" in admin_url(factories.staff_client("view_run"), run)


@pytest.mark.parametrize("action", ["stop", "requeue"])
def test_the_page_has_a_button_for_each_action(run: Run, action: str) -> None:
    client = factories.staff_client("view_run", "change_run")
    url = reverse("admin:chat_run_act", args=[run.pk, action])
    assert f'action="{url}"' in admin_url(client, run)
    answer = client.post(url)
    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:chat_run_change", args=[run.pk]))
    assert LogEntry.objects.count() == 1


def test_a_run_that_has_ended_has_no_buttons(run: Run) -> None:
    client = factories.staff_client("view_run", "change_run")
    act(client, "stop", run)
    page = admin_url(client, run)
    for action in ("stop", "requeue"):
        assert reverse("admin:chat_run_act", args=[run.pk, action]) not in page


def test_reading_a_page_or_its_buttons_address_changes_nothing(run: Run) -> None:
    client = factories.staff_client("view_run", "change_run")
    admin_url(client, run)
    assert client.get(reverse("admin:chat_run_act", args=[run.pk, "stop"])).status_code == 405
    assert client.post(reverse("admin:chat_run_act", args=[run.pk, "delete_selected"])).status_code == 404
    assert Run.objects.get(pk=run.pk).status == Status.QUEUED
    assert not LogEntry.objects.exists()


def test_a_run_is_stopped(run: Run) -> None:
    page = act(factories.staff_client("view_run", "change_run"), "stop", run)
    assert f"Stop {run.pk}: stopped" in page
    assert Run.objects.get(pk=run.pk).status == Status.STOPPED
    assert LogEntry.objects.get().change_message == "Stop: stopped"


def test_a_run_is_enqueued_again(run: Run) -> None:
    page = act(factories.staff_client("view_run", "change_run"), "requeue", run)
    assert f"Re-queue {run.pk}: enqueued" in page
    assert broker.queued_run_ids() == [str(run.pk)]


@pytest.mark.parametrize("action", ["stop", "requeue"])
def test_who_may_only_look_can_do_neither(run: Run, action: str) -> None:
    client = factories.staff_client("view_run")
    act(client, action, run)
    assert client.post(reverse("admin:chat_run_act", args=[run.pk, action])).status_code == 403
    assert Run.objects.get(pk=run.pk).status == Status.QUEUED
    assert broker.queued_run_ids() == []
    assert 'value="stop"' not in client.get(reverse(LIST)).content.decode()
