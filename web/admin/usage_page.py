"""What was answered and what it took, by day and model: tokens, cost, runs, failures, time to the first token."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from web.admin.charts import Chart, columns, lines
from web.admin.usage_rows import Usage, usage_since
from web.admin_site import OVERVIEWS, PERMISSION

PERIODS: Final = (7, 30, 90)
# Tones: completed is green, stopped ochre, failed red.
WAYS: Final = (3, 6, 5)
ByDay = Mapping[str, Mapping[date, float]]


@permission_required(PERMISSION, raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """Of runs that have ended in the latest days; days are UTC's."""
    period = _period(request.GET.get("days"))
    today = timezone.now().astimezone(UTC).date()
    days = [today - timedelta(days=ago) for ago in range(period - 1, -1, -1)]
    usage = usage_since(datetime.combine(days[0], time.min, UTC))
    return render(
        request,
        "admin/chat/usage.html",
        {
            **admin.site.each_context(request),
            "title": OVERVIEWS["usage"],
            "period": period,
            "periods": PERIODS,
            "charts": list(_charts(days, usage)),
            "models": usage.by_model,
            "errors": usage.failures,
            "by_day": usage.by_day_and_model[::-1],
        },
    )


def _period(text: str | None) -> int:
    return next((days for days in PERIODS if str(days) == text), 30)


def _charts(days: Sequence[date], usage: Usage) -> Iterator[Chart]:
    tokens: dict[str, dict[date, float]] = defaultdict(dict)
    costs: dict[str, dict[date, float]] = defaultdict(dict)
    for row in usage.by_day_and_model:
        if row.day and row.model is not None:
            tokens[row.model][row.day] = row.prompt + row.completion
            costs[row.model][row.day] = float(row.cost or 0)
    yield columns(_("Tokens by model"), days, tokens)
    if any(value for values in costs.values() for value in values.values()):
        yield columns(_("Cost by model"), days, costs)
    yield columns(_("Runs by how they ended"), days, _ways(usage), WAYS)
    yield lines(_("Time to the first token (s)"), days, _waits(usage))


def _ways(usage: Usage) -> ByDay:
    completed: dict[date, float] = {}
    stopped: dict[date, float] = {}
    failed: dict[date, float] = {}
    for row in usage.by_day:
        if row.day:
            completed[row.day] = row.runs - row.failed - row.stopped
            stopped[row.day] = row.stopped
            failed[row.day] = row.failed
    return {_("completed"): completed, _("stopped"): stopped, _("failed"): failed}


def _waits(usage: Usage) -> ByDay:
    waits: dict[str, dict[date, float]] = {"p50": {}, "p95": {}}
    for row in usage.by_day:
        if row.day and row.p50 is not None and row.p95 is not None:
            waits["p50"][row.day] = row.p50 / 1000
            waits["p95"][row.day] = row.p95 / 1000
    return waits
