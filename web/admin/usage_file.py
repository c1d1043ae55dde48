"""The figures of the admin's usage page as CSV files: by user, by group, or by day and model."""

import csv
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse

from web.admin.usage_people import MOST, PersonRow, load_groups, load_users
from web.admin.usage_period import parse_period
from web.admin.usage_rows import load_usage
from web.admin_overviews import PERMISSION

# Characters with which a spreadsheet begins a formula. Names of users and groups may begin with them.
_OF_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
_COUNTS: Final = ("runs", "failed", "requests", "prompt_tokens", "completion_tokens", "cost", "currency")
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]


@permission_required(PERMISSION, raise_exception=True)
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
