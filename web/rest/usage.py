"""What the user's answers used and cost, by day and model."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Run
from chat.models.run import USAGE
from chat.protocol.errors import ApiError
from web.rest.openapi import documented
from web.rest.schemas import UsedAnswer
from web.rest.view import Endpoint, user_of

DEFAULT_DAYS: Final = 30


class UsageView(Endpoint):
    @documented(
        "usage_list",
        answer=UsedAnswer(many=True),
        query={
            "from": "a day (YYYY-MM-DD) or a time, UTC; without it the thirty days up to `to`",
            "to": "a day, itself included, or a time; without it now",
        },
    )
    def get(self, request: Request) -> Response:
        """Of runs that have ended, oldest day first. Days are UTC's. cost: null where no price is known."""
        until = _moment(request, "to", time.max) or timezone.now()
        since = _moment(request, "from", time.min) or until - timedelta(days=DEFAULT_DAYS)
        if since > until:
            raise ApiError("invalid_value", "`from` is later than `to`.", field="from")
        used = Run.objects.visible_to(user_of(request)).used(since, until)
        return Response([_shape(row) for row in used])


def _moment(request: Request, name: str, of_day: time) -> datetime | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        day, moment = parse_date(text), parse_datetime(text)
    except ValueError:  # well written, but there is no such day
        day = moment = None
    if day is not None:
        return datetime.combine(day, of_day, UTC)
    if moment is None:
        raise ApiError("invalid_value", "This is neither a day nor a time.", field=name)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _shape(row: dict[str, Any]) -> dict[str, Any]:
    day: date = row["day"]
    cost: Decimal | None = row["used_cost"]
    return {
        "day": day.isoformat(),
        "model": row["model"],
        "runs": row["runs"],
        **{name: row[f"used_{name}"] for name in USAGE},
        "cost": None if cost is None else float(cost),
    }
