"""Answers of imported chats are no runs of this installation: no figure that staff see grows by an import."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.metrics import gauges
from chat.models import McpServer, Run, ToolCall
from tests import factories
from tests.web.rest.test_quotas import exported, import_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def archive() -> tuple[Any, bytes]:
    """A chat whose answers have used tokens, called a tool of a server and failed; its user, and its archive."""
    alice, session = factories.session_of_alice()
    McpServer.objects.create(name="notes", transport="stdio", command=["npx"], tools=[])
    for code in ("", "upstream_auth"):
        run = factories.finish_run(factories.send_turn(alice, session).json()["runs"][0]["id"])
        failed = {"status": "failed", "error_code": code} if code else {}
        Run.objects.filter(pk=run.pk).update(
            prompt_tokens=10, completion_tokens=5, cost=1, failures=1, **failed
        )
        ToolCall.objects.create(
            run=run, message=run.message, turn_number=0, tool_call_id="c", name="notes__add", status="failed"
        )
    return alice, exported(alice, session)


def figures(staff: Client) -> dict[str, Any]:
    """Every figure of runs, by the page that shows it."""
    start = staff.get(reverse("admin:index")).context
    usage = staff.get(reverse("admin:usage")).context
    workers = staff.get(reverse("admin:workers")).context
    servers = staff.get(reverse("admin:chat_mcpserver_changelist")).context
    return {
        # The first counts processes, which say that they are there for a while after their end.
        "state": [(str(figure.label), figure.value) for figure in start["figures"][1:]],
        "recent failures": [(one.code, one.runs) for one in start["recent_failures"]],
        "usage": [usage[name] for name in ("models", "by_day", "tools")],
        "failures": [row for row, _ in usage["errors"]],
        "charts": [chart.columns for chart in usage["charts"]],
        "calls of servers": servers["calls"],
        "queues": workers["queues"],
        "takeovers": [run.pk for run in workers["taken_over"]],
        "metrics": [metric.samples for metric in gauges.read()],
    }


def test_no_figure_grows_by_an_import(staff: Client, archive: tuple[Any, bytes]) -> None:
    alice, content = archive
    before = figures(staff)
    assert import_of(alice, content).status_code == 201
    assert Run.objects.filter(is_imported=True).count() == 2
    assert figures(staff) == before


def test_figures_lead_to_as_many_runs_as_they_count(staff: Client, archive: tuple[Any, bytes]) -> None:
    alice, content = archive
    assert import_of(alice, content).status_code == 201
    old = Run.objects.filter(error_code="upstream_auth", is_imported=False).get()
    Run.objects.filter(pk=old.pk).update(ended_at=timezone.now() - timedelta(days=3))

    start, usage = (staff.get(reverse(f"admin:{name}")).context for name in ("index", "usage"))
    counts = [(one.value, one.url) for one in start["figures"][-1:]]
    counts += [(one.runs, one.url) for one in start["recent_failures"]]
    counts += [(row.runs, url) for row, url in usage["errors"]]
    assert [number for number, _ in counts] == [1, 1]
    for number, url in counts:
        assert staff.get(url).context["cl"].queryset.count() == number
