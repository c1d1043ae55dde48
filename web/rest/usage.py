"""Reports the tokens and the cost of the user's runs by day and model."""

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
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.response_schemas import UsedAnswer

DEFAULT_DAYS: Final = 30


class UsageView(StrictAPIView):
    @documented(
        "usage_list",
        answer=UsedAnswer(many=True),
        query={
            "from": "A day (YYYY-MM-DD) or a time, UTC. Default: thirty days before `to`.",
            "to": "A day (inclusive) or a time, UTC. Default: now.",
        },
    )
    def get(self, request: Request) -> Response:
        """Report runs that have ended, oldest day first. Days are UTC. `cost` is null if the price is unknown."""
        until = _parse_time(request, "to", time.max) or timezone.now()
        since = _parse_time(request, "from", time.min) or until - timedelta(days=DEFAULT_DAYS)
        if since > until:
            raise ApiError("invalid_value", "`from` is later than `to`.", field="from")
        used = Run.objects.visible_to(current_user(request)).used(since, until)
        return Response([_present_usage(row) for row in used])


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
        return datetime.combine(day, time_of_day, UTC)
    if moment is None:
        raise ApiError("invalid_value", "This is neither a day nor a time.", field=name)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _present_usage(row: dict[str, Any]) -> dict[str, Any]:
    day: date = row["day"]
    cost: Decimal | None = row["used_cost"]
    return {
        "day": day.isoformat(),
        "model": row["model"],
        "runs": row["runs"],
        **{name: row[f"used_{name}"] for name in USAGE},
        "cost": None if cost is None else float(cost),
    }
