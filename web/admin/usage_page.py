"""The admin's usage page: tokens, cost, runs, failures and time to the first token, by day and model; calls by tool."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Final

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from web.admin.charts import Chart, draw_columns, draw_lines
from web.admin.tool_rows import load_tool_rows
from web.admin.usage_people import PersonRow, load_groups, load_users
from web.admin.usage_period import PERIODS, parse_period
from web.admin.usage_rows import UsageReport, load_usage
from web.admin_overviews import OVERVIEWS, PERMISSION

# Tones: completed is green, stopped ochre, failed red.
OUTCOME_TONES: Final = (3, 6, 5)
ByDay = Mapping[str, Mapping[date, float]]


@permission_required(PERMISSION, raise_exception=True)
def show_usage(request: HttpRequest) -> HttpResponse:
    """Show the runs that ended in the last days; days are UTC."""
    period = parse_period(request.GET.get("days"))
    days, since = period.days, period.since
    usage = load_usage(since)
    return render(
        request,
        "admin/chat/usage.html",
        {
            **admin.site.each_context(request),
            "title": OVERVIEWS["usage"],
            "period": period.length,
            "periods": PERIODS,
            "charts": list(_charts(_days_to_draw(days, usage), usage)),
            "currency": settings.CURRENCY,
            "people": list(_people(since)),
            "models": usage.by_model,
            "errors": [(row, row.url_since(since)) for row in usage.failures],
            "tools": load_tool_rows(since),
            "by_day": usage.by_day_and_model[::-1],
        },
    )


def _people(since: datetime) -> Iterator[tuple[str, str, Sequence[PersonRow]]]:
    """Yield the tables of users and groups: the name of the file, the title, the rows."""
    yield "users", _("By user"), load_users(since)
    if groups := load_groups(since):
        yield "groups", _("By group"), groups


def _days_to_draw(days: Sequence[date], usage: UsageReport) -> Sequence[date]:
    """Return only the last week if nothing is older, since columns are wider then."""
    used = {row.day for row in (*usage.by_day_and_model, *usage.by_day)}
    return days if used & set(days[: -PERIODS[0]]) else days[-PERIODS[0] :]


def _charts(days: Sequence[date], usage: UsageReport) -> Iterator[Chart]:
    tokens: dict[str, dict[date, float]] = defaultdict(dict)
    costs: dict[str, dict[date, float]] = defaultdict(dict)
    for row in usage.by_day_and_model:
        if row.day and row.model is not None:
            of_model, cost = tokens[row.model], costs[row.model]
            of_model[row.day] = of_model.get(row.day, 0) + row.prompt + row.completion
            cost[row.day] = cost.get(row.day, 0) + float(row.cost or 0)
    yield draw_columns(_("Tokens by model"), days, tokens)
    if any(value for values in costs.values() for value in values.values()):
        title = _("Cost by model")
        yield draw_columns(f"{title} ({settings.CURRENCY})" if settings.CURRENCY else title, days, costs)
    yield draw_columns(_("Runs by how they ended"), days, _runs_by_outcome(usage), OUTCOME_TONES)
    yield draw_lines(_("Time to the first token (s)"), days, _first_token_times(usage))


def _runs_by_outcome(usage: UsageReport) -> ByDay:
    completed: dict[date, float] = {}
    stopped: dict[date, float] = {}
    failed: dict[date, float] = {}
    for row in usage.by_day:
        if row.day:
            completed[row.day] = row.runs - row.failed - row.stopped
            stopped[row.day] = row.stopped
            failed[row.day] = row.failed
    return {_("completed"): completed, _("stopped"): stopped, _("failed"): failed}


def _first_token_times(usage: UsageReport) -> ByDay:
    waits: dict[str, dict[date, float]] = {"p50": {}, "p95": {}}
    for row in usage.by_day:
        if row.day and row.p50 is not None and row.p95 is not None:
            waits["p50"][row.day] = row.p50 / 1000
            waits["p95"][row.day] = row.p95 / 1000
    return waits
