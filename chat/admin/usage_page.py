"""What was answered and what it took, by day and model: tokens, cost, runs, failures, time to the first token."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.db.models import Aggregate, Count, FloatField, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from chat.admin.charts import Chart, columns, lines
from chat.admin_site import OVERVIEWS, PERMISSION
from chat.models import Run
from chat.states import Status

PERIODS: Final = (7, 30, 90)
TOKENS: Final = {"prompt": "prompt_tokens", "completion": "completion_tokens"}


class Percentile(Aggregate):
    """Of what is not null."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(at)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: str, at: float) -> None:
        super().__init__(expression, at=at)


NUMBERS: Final[dict[str, Any]] = {
    "runs": Count("pk"),
    "failed": Count("pk", filter=Q(status=Status.FAILED)),
    "stopped": Count("pk", filter=Q(status=Status.STOPPED)),
    "prompt": Coalesce(Sum("prompt_tokens"), 0),
    "cached": Coalesce(Sum("cached_tokens"), 0),
    "completion": Coalesce(Sum("completion_tokens"), 0),
    "total_cost": Sum("cost"),
}
FIRST_TOKEN: Final = {
    "p50": Percentile("time_to_first_token_ms", 0.5),
    "p95": Percentile("time_to_first_token_ms", 0.95),
}


@permission_required(PERMISSION, raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """Of runs that have ended in the latest days; days are UTC's."""
    period = _period(request.GET.get("days"))
    today = timezone.now().astimezone(UTC).date()
    days = [today - timedelta(days=ago) for ago in range(period - 1, -1, -1)]
    since = datetime.combine(days[0], time.min, UTC)
    ended = Run.objects.filter(ended_at__gte=since, is_imported=False).order_by()
    by_day = list(_of_days(ended).values("day", "model").annotate(**NUMBERS).order_by("day", "model"))
    first_token = list(_of_days(ended).values("day").annotate(**FIRST_TOKEN).order_by("day"))
    return render(
        request,
        "admin/chat/usage.html",
        {
            **admin.site.each_context(request),
            "title": OVERVIEWS["usage"],
            "period": period,
            "periods": PERIODS,
            "charts": list(_charts(days, by_day, first_token)),
            "models": list(_by_model(ended)),
            "errors": list(_errors(ended)),
            "by_day": by_day[::-1],
        },
    )


def _of_days(ended: QuerySet[Run]) -> Any:
    return ended.annotate(day=TruncDate("ended_at", tzinfo=UTC))


def _by_model(ended: Any) -> Any:
    return ended.values("model").annotate(**NUMBERS, **FIRST_TOKEN).order_by("-runs", "model")


def _errors(ended: QuerySet[Run]) -> Any:
    failed = ended.exclude(error_code="").values("error_code", "model")
    return failed.annotate(runs=Count("pk")).order_by("-runs", "error_code", "model")[:50]


def _period(text: str | None) -> int:
    return next((days for days in PERIODS if str(days) == text), 30)


def _charts(days: Sequence[date], by_day: Sequence[Any], first_token: Sequence[Any]) -> list[Chart]:
    def by_model(*numbers: str) -> Mapping[str, Mapping[date, float]]:
        found: dict[str, dict[date, float]] = defaultdict(dict)
        for row in by_day:
            found[row["model"]][row["day"]] = float(sum(row[number] or 0 for number in numbers))
        return found

    ways: dict[str, dict[date, float]] = {"completed": {}, "stopped": {}, "failed": {}}
    for row in by_day:
        well = row["runs"] - row["failed"] - row["stopped"]
        for way, number in (("completed", well), ("stopped", row["stopped"]), ("failed", row["failed"])):
            ways[way][row["day"]] = ways[way].get(row["day"], 0) + number
    waits = {
        name: {row["day"]: row[name] / 1000 for row in first_token if row[name] is not None}
        for name in FIRST_TOKEN
    }
    charts = [
        columns("Tokens by model", days, by_model("prompt", "completion")),
        columns("Runs by how they ended", days, ways),
        lines("Time to the first token (s)", days, waits),
    ]
    if any(row["total_cost"] for row in by_day):
        charts.insert(1, columns("Cost by model", days, by_model("total_cost")))
    return charts
