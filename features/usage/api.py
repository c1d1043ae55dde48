"""The routes of the tokens and the cost of the user's answers, and of titles and summaries, by day and model; of the use of
API tokens; and of the limits."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from typing import Annotated, Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import path
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Run, SideRequest, TokenUse
from chat.models.model_requests import COUNTED_FOR_A_SAFE_SUMMARY, Purpose
from chat.models.run_fields import USAGE
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, LimitUse, Moment, choice, doc, plain_number
from chat.protocol.errors import ApiError
from chat.runs import admission, daily_limits, quotas
from chat.transcript.usage import ESTIMATED_TOKENS_HELP
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented, query
from web.rest.pagination import YEARS
from web.rest.request_slots import EXPENSIVE

DEFAULT_DAYS: Final = 30
_IN_YEARS: Final = r"^(19[7-9]\d|[2-8]\d{3})-"
_MOMENT: Final = {
    "anyOf": [{"type": "string", "format": kind, "pattern": _IN_YEARS} for kind in ("date", "date-time")]
}
# The purposes as clients are told them; None: runs.
PURPOSES: Final = {
    None: "answers",
    Purpose.TITLE: "titles",
    Purpose.SUMMARY: "summaries",
    Purpose.SAFE_SUMMARY: "safe_summaries",
    Purpose.EXPANSION: "expansions",
}


class UsedAnswer(Answer):
    day: date
    model: str
    purpose: Annotated[str, choice(sorted(PURPOSES.values()))]
    runs: Annotated[int, doc("Answers; 0 of other purposes.")]
    requests: Annotated[int, doc("To the model.")]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    estimated_tokens: Annotated[int, doc(ESTIMATED_TOKENS_HELP)]
    cost: float | None


class TokenUsedAnswer(Answer):
    day: date
    token: Annotated[UUID, doc("The id of the API token.")]
    runs: Annotated[int, doc("Answers that were asked for with it.")]
    tokens: int
    cost: Annotated[float, doc("Of models with prices.")]


class LimitUseAnswer(Answer):
    code: Annotated[str, doc("Of the limit.")]
    used: float
    max: Annotated[float | None, doc("Null: there is no limit.")]
    unit: Annotated[str, doc("What is counted.")]
    resets_at: Annotated[Moment | None, doc("When `used` starts again at 0; null: not at a time.")]
    is_estimated: Annotated[
        bool, doc("Whether tokens that no model server reported are counted too, by an estimate.")
    ]


_PERIOD: Final = (
    query("from", _MOMENT, "A day (YYYY-MM-DD) or a time, UTC. Default: thirty days before `to`."),
    query("to", _MOMENT, "A day (inclusive) or a time, UTC. Default: now."),
)


class UsageView(StrictAPIView):
    slots = EXPENSIVE

    @documented("usage_list", answer=list[UsedAnswer], parameters=_PERIOD)
    def get(self, request: Request) -> Response:
        """List runs that have ended, and requests for titles and summaries, oldest day first. Days are UTC.
        `cost` is null if the price is unknown. Safe summaries count 5,500 tokens each and have no cost here, so that
        nothing about the documents can be inferred.
        """
        since, until = _parse_period(request)
        user = current_user(request)
        answers = Run.objects.owned_by(user).used(since, until)
        others = SideRequest.objects.owned_by(user).used(since, until)
        used = [_present_usage(row) for row in (*answers, *others)]
        return Response(sorted(used, key=lambda row: (row["day"], row["model"], row["purpose"])))


class TokenUsageView(StrictAPIView):
    slots = EXPENSIVE

    @documented("usage_tokens_list", answer=list[TokenUsedAnswer], parameters=_PERIOD)
    def get(self, request: Request) -> Response:
        """List what answers have used that were asked for with the user's API tokens, those of deleted chats too, oldest
        day first. Days are UTC and whole. Summaries are in the list of all usage alone.
        """
        since, until = _parse_period(request)
        rows = TokenUse.objects.by_day(current_user(request), since.date(), until.date())
        used = [
            TokenUsedAnswer(
                row["day"], row["token"], row["used_runs"], row["used_tokens"], float(row["used_cost"])
            )
            for row in rows
        ]
        return Response([answer.json() for answer in used])


def _parse_period(request: Request) -> tuple[datetime, datetime]:
    """Parse `from` and `to`. Raises ApiError."""
    until = _parse_time(request, "to", time.max) or timezone.now()
    since = _parse_time(request, "from", time.min) or until - timedelta(days=DEFAULT_DAYS)
    if since > until:
        raise ApiError("invalid_value", "`from` is later than `to`.", field="from")
    return since, until


def _parse_time(request: Request, name: str, time_of_day: time) -> datetime | None:
    """Parse a query parameter; a day becomes `time_of_day` of it. Raises ApiError."""
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        day, moment = parse_date(text), parse_datetime(text)
    except ValueError:  # well-formed, but not a date of the calendar
        day = moment = None
    if day is not None:
        moment = datetime.combine(day, time_of_day, UTC)
    # Years near the ends of the calendar overflow when days or a time zone are subtracted.
    if moment is None or moment.year not in YEARS:
        raise ApiError("invalid_value", "This is neither a day nor a time.", field=name)
    # Postgres knows no time zone that is 16 hours or more from UTC.
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _present_usage(row: dict[str, Any]) -> dict[str, Any]:
    cost: Decimal | None = row["used_cost"]
    tokens = {name: row[f"used_{name}"] for name in USAGE}
    if row.get("purpose") == Purpose.SAFE_SUMMARY:
        tokens = {
            name: row["answered"] * count for name, count in COUNTED_FOR_A_SAFE_SUMMARY._asdict().items()
        }
        cost = None
    return UsedAnswer(
        day=row["day"],
        model=row["model"],
        purpose=PURPOSES[row.get("purpose")],
        runs=row.get("runs", 0),
        requests=row["requests"],
        **tokens,
        cost=None if cost is None else float(cost),
    ).json()


# Each yields the rows of its limits, in the order in which clients receive them.
SOURCES: Final[tuple[Callable[[User], Iterable[LimitUse]], ...]] = (
    daily_limits.limit_uses,
    admission.limit_uses,
    quotas.limit_uses,
)


class LimitsView(StrictAPIView):
    slots = EXPENSIVE

    @documented("usage_limits_list", answer=list[LimitUseAnswer])
    def get(self, request: Request) -> Response:
        """List the limits that apply to the user, and how much of each is used. `max` is null if there is no limit."""
        user = current_user(request)
        uses = chain.from_iterable(source(user) for source in SOURCES)
        return Response([present_limit_use(use) for use in uses])


def present_limit_use(use: LimitUse) -> JSONObject:
    most = None if use.max is None else plain_number(use.max)
    return LimitUseAnswer.from_row(use, used=plain_number(use.used), max=most).json()


urlpatterns = [
    path("usage/", UsageView.as_view()),
    path("usage/tokens/", TokenUsageView.as_view()),
    path("usage/limits/", LimitsView.as_view()),
]
