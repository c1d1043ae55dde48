"""Views of runs: read one, read its packets, cancel it."""

from typing import Any, Final

from django.http import HttpResponse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.rebuilt import packets_after
from chat.models import Run
from chat.presenters.runs import RunAnswer, StatusAnswer, present_run
from chat.protocol.answer import Answer
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.turns.regeneration import continue_answer
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented, query, whole_number
from web.rest.pagination import MAX_COUNT, parse_count
from web.rest.request_slots import EXPENSIVE
from web.rest.turns import stop_response


class PacketsAnswer(Answer):
    attempt: int
    complete: bool
    packets: list[dict[str, Any]]


# Texts that are read when something needs them: a run and its message refer to each other, and are freed later.
_UNREAD: Final = (
    "message__text",
    "message__reasoning",
    "turn__user_message__text",
    "turn__session__settings",
)


class RunView(StrictAPIView):
    @documented("runs_read", answer=RunAnswer)
    def get(self, request: Request, run: str) -> Response:
        """Read a run."""
        user = current_user(request)
        is_for_staff = user.is_staff and user.has_perm("chat.view_run")
        return Response(present_run(_get_own_run(request, run), is_for_staff=is_for_staff))


class PacketsView(StrictAPIView):
    slots = EXPENSIVE

    @documented(
        "packets_list",
        answer=PacketsAnswer,
        parameters=[
            query("after", whole_number(0, MAX_COUNT), "The seq of the latest packet that the client has.")
        ],
    )
    def get(self, request: Request, run: str) -> HttpResponse:
        """List the packets of a run's current attempt after a seq."""
        found = _get_own_run(request, run)
        refusal = ApiError("invalid_cursor", field="after")
        logged = packets_after(found, parse_count(request.query_params, "after", 0, refusal))
        # The lines are JSON already; they are joined without decoding.
        body = b'{"attempt":%d,"complete":%s,"packets":[%s]}' % (
            logged.attempt,
            b"true" if logged.complete else b"false",
            b",".join(logged.lines),
        )
        return HttpResponse(body, content_type="application/json")


class RunContinuationView(StrictAPIView):
    @documented("runs_continue", answer=RunAnswer, statuses=(202, 200))
    def post(self, request: Request, run: str) -> Response:
        """Continue an answer that was cut at the output limit, stopped or broken off, in the same message. 200 if it is being
        continued."""
        continued, is_repeat = continue_answer(_get_own_run(request, run))
        code = status.HTTP_200_OK if is_repeat else status.HTTP_202_ACCEPTED
        return Response(present_run(continued), code)


class RunCancellationView(StrictAPIView):
    @documented("runs_cancel", answer=StatusAnswer, statuses=(202, 200))
    def post(self, request: Request, run: str) -> Response:
        """Stop a run. 200 if it has already ended."""
        return stop_response(cancellation.stop_run(_get_own_run(request, run).pk))


def _get_own_run(request: Request, pk: str) -> Run:
    own = Run.objects.visible_to(current_user(request)).for_work().defer(*_UNREAD)
    return get_own_row(own, pk, "run")
