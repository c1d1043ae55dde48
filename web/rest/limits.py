"""Reports how much of each limit the user has used, so that clients can say so before it is reached."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import chain
from typing import Final

from django.contrib.auth.models import User
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.json_values import JSONObject, isoformat_or_none
from chat.protocol.limit_use import LimitUse
from chat.runs import admission, daily_limits, quotas
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.request_slots import EXPENSIVE
from web.rest.response_schemas import ResponseSchema

# Each yields the rows of what it limits, in the order in which clients receive them.
SOURCES: Final[tuple[Callable[[User], Iterable[LimitUse]], ...]] = (
    daily_limits.limit_uses,
    admission.limit_uses,
    quotas.limit_uses,
)


class LimitUseAnswer(ResponseSchema):
    code = serializers.CharField(help_text="Of the limit.")
    used = serializers.FloatField()
    max = serializers.FloatField(allow_null=True, help_text="Null: there is no limit.")
    unit = serializers.CharField(help_text="What is counted.")
    resets_at = serializers.DateTimeField(
        allow_null=True, help_text="When `used` starts again at 0; null: not at a time."
    )
    is_estimated = serializers.BooleanField(
        help_text="Whether tokens that no model server reported are counted too, by an estimate."
    )


class LimitsView(StrictAPIView):
    slots = EXPENSIVE

    @documented("usage_limits_list", answer=LimitUseAnswer(many=True))
    def get(self, request: Request) -> Response:
        """Report the limits that apply to the user, and how much of each is used. `max` is null if there is none."""
        user = current_user(request)
        uses = chain.from_iterable(source(user) for source in SOURCES)
        return Response([present_limit_use(use) for use in uses])


def present_limit_use(use: LimitUse) -> JSONObject:
    return {
        "code": use.code,
        "used": _number(use.used),
        "max": None if use.max is None else _number(use.max),
        "unit": use.unit,
        "resets_at": isoformat_or_none(use.resets_at),
        "is_estimated": use.is_estimated,
    }


def _number(value: int | Decimal) -> int | float:
    return value if isinstance(value, int) else float(value)
