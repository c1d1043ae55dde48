"""Views of turns and runs: send a message, regenerate or continue an answer, cancel; read a run and its packets."""

from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.rebuilt import packets_after
from chat.models import Run, Turn
from chat.presenters.runs import RunAnswer, StartedAnswer, StatusAnswer, present_run, present_turn
from chat.protocol.answer import Answer
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.runs.cancellation import StopOutcome
from chat.turns.regeneration import RegenerationBody, continue_answer, regenerate_turn
from chat.turns.request import MAX_CLIENT_MESSAGE_ID_CHARACTERS, TurnBody
from chat.turns.start import start_turn
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.messages import get_own_message
from web.rest.openapi import documented, query, whole_number
from web.rest.pagination import MAX_COUNT, parse_count
from web.rest.request_slots import EXPENSIVE
from web.rest.sessions import get_own_session

_IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {
        "type": "string",
        "maxLength": MAX_CLIENT_MESSAGE_ID_CHARACTERS,
        # Printable characters of Latin-1 without surrounding spaces, which HTTP strips.
        "pattern": r"^[!-~\u00a1-\u00ac\u00ae-\u00ff]([ -~\u00a1-\u00ac\u00ae-\u00ff]*[!-~\u00a1-\u00ac\u00ae-\u00ff])?$",
    },
    OpenApiParameter.HEADER,
    description="Like client_message_id, if the body has none.",
)


class TurnsView(StrictAPIView):
    @documented(
        "turns_create",
        body=TurnBody,
        answer=StartedAnswer,
        statuses=(202, 200),
        parameters=[_IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, session: str) -> Response:
        """Start a turn. 200 if the request repeats an earlier client_message_id (or Idempotency-Key header)."""
        found = get_own_session(request, session)
        body = self.parse(TurnBody)
        idempotency_key = _validate_idempotency_key(request.headers.get("Idempotency-Key"))
        body.client_message_id = body.client_message_id or idempotency_key
        started = start_turn(found, body)
        return Response(
            present_turn(started.turn, started.runs),
            status.HTTP_200_OK if started.is_repeat else status.HTTP_202_ACCEPTED,
        )


class RegenerationsView(StrictAPIView):
    @documented("regenerations_create", body=RegenerationBody, answer=StartedAnswer, statuses=(202,))
    def post(self, request: Request, message: str) -> Response:
        """Answer a question again; the new answers become siblings of the earlier ones.

        With `replace`, the single new answer takes the column of that run, beside the other answers of its turn.
        """
        found = get_own_message(request, message)
        started = regenerate_turn(found, self.parse(RegenerationBody))
        return Response(present_turn(started.turn, started.runs), status.HTTP_202_ACCEPTED)


class ContinuationView(StrictAPIView):
    @documented("continuations_create", answer=StartedAnswer, statuses=(202, 200))
    def post(self, request: Request, message: str) -> Response:
        """Continue an answer that was cut at the output limit, stopped or broken off, in the same message. 200 if it is
        being continued.

        As `POST runs/{id}/continuation/`, which answers with the run.
        """
        run = Run.objects.for_work().filter(message=get_own_message(request, message)).first()
        if run is None:
            raise ApiError("not_continuable")
        continued, is_repeat = continue_answer(run)
        code = status.HTTP_200_OK if is_repeat else status.HTTP_202_ACCEPTED
        return Response(present_turn(continued.turn, [continued]), code)


class TurnCancellationView(StrictAPIView):
    @documented("turns_cancel", answer=StatusAnswer, statuses=(202, 200))
    def post(self, request: Request, turn: str) -> Response:
        """Stop all runs of a turn. 200 if they have already ended."""
        rows = Turn.objects.visible_to(current_user(request))
        return stop_response(cancellation.stop_turn(get_own_row(rows, turn, "turn")))


def stop_response(outcome: StopOutcome) -> Response:
    code = status.HTTP_200_OK if outcome.had_ended else status.HTTP_202_ACCEPTED
    return Response(StatusAnswer(status=outcome.status).json(), code)


def _validate_idempotency_key(idempotency_key: str | None) -> str | None:
    if idempotency_key is None:
        return None
    if not (idempotency_key.isprintable() and 1 <= len(idempotency_key) <= MAX_CLIENT_MESSAGE_ID_CHARACTERS):
        raise ApiError("invalid_value", field="Idempotency-Key")
    return idempotency_key


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
