"""The view of the user's limits and their use, so that clients can warn before one is reached."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.usage import LimitUseAnswer, present_limit_use
from chat.protocol.limit_use import LimitUse
from chat.runs import admission, daily_limits, quotas
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.request_slots import EXPENSIVE

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
