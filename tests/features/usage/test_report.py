"""The admin's usage page: tokens, cost, failures and waits by day, calls by tool, and the charts."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import McpServer, Run, ToolCall
from features.usage import charts
from tests import factories
from web.admin.tool_calls import ToolRow

TOOL = {"name": "notes__add", "tool": "add", "description": "Adds a note."}
DAYS = [date(2026, 11, 20) + timedelta(days=number) for number in range(3)]


class TestCharts:
    def test_columns_stand_on_each_other_and_fill_the_drawing(self) -> None:
        chart = charts.draw_columns("Tokens", DAYS, {"a": {DAYS[0]: 60, DAYS[2]: 20}, "b": {DAYS[0]: 40}})
        low, high, right = sorted(chart.columns, key=lambda column: (column.x, -column.y))
        assert (low.y + low.height, high.y + high.height) == (chart.base, pytest.approx(low.y, abs=0.2))
        assert high.y == pytest.approx(charts.TOP, abs=0.2)
        assert right.x > low.x
        assert low.title == "2026-11-20, a: 60"
        assert [label for _tone, label in chart.legend] == ["a", "b"]

    def test_a_line_leaves_out_days_without_a_value_and_is_seen_with_one(self) -> None:
        chart = charts.draw_lines(
            "Wait", DAYS, {"p50": {DAYS[0]: 1, DAYS[2]: 2}, "p95": {DAYS[1]: 2}, "none": {}}
        )
        assert [len(points.split()) for _tone, points in chart.lines] == [2, 1, 0]
        assert [(mark.label, mark.radius) for mark in chart.marks] == [("p95 2", 4)]

    def test_the_only_day_with_values_is_labelled_with_its_sum(self) -> None:
        chart = charts.draw_columns("Tokens", DAYS, {"a": {DAYS[1]: 1000}, "b": {DAYS[1]: 500}})
        [mark] = chart.marks
        assert mark.label == "1.5 k"
        assert charts.TOP < mark.label_y < min(column.y for column in chart.columns)
        assert charts.draw_columns("Tokens", DAYS, {"a": {DAYS[0]: 1, DAYS[1]: 1}}).marks == []

    def test_the_labels_of_two_points_do_not_cover_each_other(self) -> None:
        chart = charts.draw_lines("Wait", DAYS, {"p50": {DAYS[2]: 2}, "p95": {DAYS[2]: 2}})
        low, high = chart.marks
        assert low.label_y - high.label_y > 11
        assert {low.anchor, high.anchor} == {"end"}

    def test_nothing_is_drawn_of_nothing(self) -> None:
        assert charts.draw_columns("Tokens", DAYS, {}).columns == []

    @pytest.mark.parametrize(
        ("value", "expected"), [(0, "0"), (0.25, "0.25"), (999, "999"), (1500, "1.5 k"), (2_000_000, "2 M")]
    )
    def test_the_axis_is_labelled_with_short_numbers(self, value: float, expected: str) -> None:
        assert charts._format_number(value) == expected


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    return factories.queued_run()


def page(client: Client, name: str, **query: Any) -> str:
    return client.get(reverse(f"admin:{name}"), query).content.decode()


def used(run: Run, **fields: Any) -> None:
    factories.finish_run(str(run.pk))
    Run.objects.filter(pk=run.pk).update(
        prompt_tokens=1234, completion_tokens=56, time_to_first_token_ms=789, cost=Decimal("0.5"), **fields
    )


def test_usage_tells_tokens_cost_failures_and_waits(run: Run) -> None:
    used(run, status="failed", error_code="upstream_timeout")
    html = page(factories.staff_client("view_run"), "usage")
    for part in ("quick", "1234", "56", "0.5000", "789 ms", "upstream_timeout", "Cost by model", "<svg"):
        assert part in html


def test_usage_covers_the_requested_number_of_days(run: Run) -> None:
    used(run, ended_at=timezone.now() - timedelta(days=20))
    client = factories.staff_client("view_run")
    assert "1234" in page(client, "usage", days="30")
    assert "1234" not in page(client, "usage", days="7")
    assert client.get(reverse("admin:usage"), {"days": "-1"}).context["period"] == 30


def test_usage_tells_how_calls_of_each_tool_ended_and_how_long_they_ran(run: Run) -> None:
    def called(name: str, status: str, ms: int | None, number: int) -> None:
        ToolCall.objects.create(
            run=run,
            message=run.message,
            turn_number=number,
            tool_call_id="c",
            name=name,
            status=status,
            duration_ms=ms,
        )

    calls = [("completed", 10), ("completed", 30), ("failed", 20), ("refused", None), ("unknown", None)]
    for number, (status, ms) in enumerate(calls):
        called("notes__add", status, ms, number)
    called("web_search", "completed", 400, 9)
    client = factories.staff_client("view_run", "view_toolcall")
    response = client.get(reverse("admin:usage"))
    assert response.context["tools"] == [
        ToolRow("notes__add", 5, failed=1, unknown=1, refused=1, p50=20, p95=29),
        ToolRow("web_search", 1, failed=0, unknown=0, refused=0, p50=400, p95=400),
    ]
    assert "?name=notes__add" in response.content.decode()
    server = McpServer.objects.create(name="notes", transport="stdio", command=["npx"], tools=[TOOL])
    client = factories.staff_client("view_mcpserver", name="carol")
    listed = client.get(reverse("admin:chat_mcpserver_changelist"))
    assert listed.context["calls"] == [ToolRow("notes", 5, failed=1, unknown=1, refused=1, p50=20, p95=29)]
    server_page = client.get(reverse("admin:chat_mcpserver_change", args=[server.pk]))
    assert [row.name for row in server_page.context["calls"]] == ["notes__add"]
    assert "Calls of the last 30 days" in server_page.content.decode()
    client = factories.staff_client("view_run", name="dora")
    Run.objects.update(is_imported=True)
    assert client.get(reverse("admin:usage")).context["tools"] == []


def test_days_are_utcs(run: Run) -> None:
    yesterday = timezone.now().astimezone(UTC).date() - timedelta(days=1)
    used(run, ended_at=datetime(yesterday.year, yesterday.month, yesterday.day, 23, 59, 59, tzinfo=UTC))
    assert f"<td>{yesterday}</td>" in page(factories.staff_client("view_run"), "usage")
