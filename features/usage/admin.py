"""The admin of usage: daily limits, the use by user and day, and a page of what all have used, with its figures as files.

The limits are the default ones and those of groups. The page has tokens, cost, runs, failures and time to the first
token, by day and model; what users and groups have used; and calls by tool.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group, User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.models import DailyUse, DefaultLimits, GroupLimits
from chat.models.usage import DailyAccount
from chat.protocol.answer import LimitUse
from features.usage.charts import Chart, draw_columns, draw_lines
from features.usage.report import MOST, PersonRow, UsageReport, load_groups, load_usage, load_users
from web.admin.read_only import ReadOnlyAdmin
from web.admin.tool_calls import load_tool_rows
from web.admin_overviews import overview

TITLE: Final = gettext_lazy("Usage")
PERIODS: Final = (7, 30, 90)
# Tones: completed is green, stopped ochre, failed red.
OUTCOME_TONES: Final = (3, 6, 5)
ByDay = Mapping[str, Mapping[date, float]]
# Characters with which a spreadsheet begins a formula. Names of users and groups may begin with them.
_OF_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
_COUNTS: Final = ("runs", "failed", "requests", "prompt_tokens", "completion_tokens", "cost", "currency")
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]

admin.site.unregister(Group)


class GroupLimitsInline(admin.StackedInline[GroupLimits, Group]):
    model = GroupLimits


@admin.register(Group)
class LimitingGroupAdmin(GroupAdmin):
    inlines = (GroupLimitsInline,)


@admin.register(DefaultLimits)
class DefaultLimitsAdmin(admin.ModelAdmin[DefaultLimits]):
    """At most one row. Deleting it removes the limits."""

    list_display = ("__str__", "runs_per_day", "tokens_per_day", "cost_per_day")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not DefaultLimits.objects.exists()


@admin.register(DailyUse)
class DailyUseAdmin(ReadOnlyAdmin[DailyUse]):
    list_display = ("day", "user", "runs", "tokens", "cost", "is_estimated")
    list_filter = ("day",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    date_hierarchy = "day"


def limits_of_today(user: User) -> str:
    """Return, for each limit, the used and the allowed amount as text."""
    account = DailyAccount.read(user.pk)
    return "; ".join(map(_limit_text, account or ()))


def _limit_text(use: LimitUse) -> str:
    names: dict[str, Any] = {"runs": _("runs"), "tokens": _("tokens"), "cost": _("cost")}
    used = number_format(use.used, use_l10n=True, force_grouping=True)
    if use.is_estimated:
        used = _("%(number)s (partly estimated)") % {"number": used}
    if use.max is None:
        return _("%(unit)s: %(used)s, no limit") % {"unit": names[use.unit], "used": used}
    most = number_format(use.max, use_l10n=True, force_grouping=True)
    return _("%(unit)s: %(used)s of %(most)s") % {"unit": names[use.unit], "used": used, "most": most}


class Period(NamedTuple):
    """The last days, today included."""

    length: int
    days: Sequence[date]

    @property
    def since(self) -> datetime:
        return datetime.combine(self.days[0], time.min, UTC)


def parse_period(text: str | None) -> Period:
    """Return the period of so many days; of 30 if the text is none of PERIODS."""
    length = next((days for days in PERIODS if str(days) == text), 30)
    today = timezone.now().astimezone(UTC).date()
    return Period(length, [today - timedelta(days=ago) for ago in range(length - 1, -1, -1)])


@overview("usage/", "usage", TITLE)
def show_usage(request: HttpRequest) -> HttpResponse:
    """Show the runs that ended in the last days; days are UTC."""
    period = parse_period(request.GET.get("days"))
    days, since = period.days, period.since
    usage = load_usage(since)
    return render(
        request,
        "usage/report.html",
        {
            **admin.site.each_context(request),
            "title": TITLE,
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


@overview("usage/<slug:by>.csv", "usage_file")
def send_usage(request: HttpRequest, by: str) -> HttpResponse:
    """Send a file with a row of names. Its words are English in every language, so that programs can read it."""
    if by not in _TABLES:
        raise Http404
    period = parse_period(request.GET.get("days"))
    head, rows = _TABLES[by](period.since)
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="usage-{by}-{period.days[-1]}.csv"'},
    )
    writer = csv.writer(response)
    writer.writerow(head)
    writer.writerows(map(_cell, row) for row in rows)
    return response


def _cell(value: Any) -> Any:
    is_formula = isinstance(value, str) and value.startswith(_OF_FORMULAS)
    return f"'{value}" if is_formula else value


def _users(since: datetime) -> Table:
    return ("user", *_COUNTS), map(_person, load_users(since, MOST))


def _groups(since: datetime) -> Table:
    return ("group", *_COUNTS), map(_person, load_groups(since, MOST))


def _person(row: PersonRow) -> Sequence[Any]:
    return (row.name or "", *row[1:], settings.CURRENCY)


def _days(since: datetime) -> Table:
    head = ("day", "model", "purpose", "runs", "failed", "stopped", "prompt_tokens", "cached_tokens")
    rows = load_usage(since).by_day_and_model
    return (
        (*head, "completion_tokens", "estimated_tokens", "cost", "currency"),
        ((*row[:-2], settings.CURRENCY) for row in rows),
    )


_TABLES: Final[dict[str, Callable[[datetime], Table]]] = {"users": _users, "groups": _groups, "days": _days}
