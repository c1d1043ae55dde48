"""Views of turns: send a message, regenerate an answer, cancel a turn."""

from functools import cache
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListField

from chat.models import Turn
from chat.presenters.turns import present_turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.runs.cancellation import StopOutcome
from chat.turns.regeneration import regenerate_turn
from chat.turns.request import (
    MAX_ADDITIONAL_CONTEXT_CHARACTERS,
    MAX_CLIENT_MESSAGE_ID_CHARACTERS,
    TurnRequest,
)
from chat.turns.start import start_turn
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.fields import ModelNamesField, StrictCharField, StrictSerializer, StrictUUIDField
from web.rest.messages import get_own_message
from web.rest.openapi import documented
from web.rest.response_schemas import StartedAnswer, StatusAnswer
from web.rest.sessions import get_own_session


class TurnBody(StrictSerializer):
    text = StrictCharField()
    parent = StrictUUIDField(required=False, allow_null=True)  # type: ignore[assignment]
    models = ModelNamesField(required=False)
    files = ListField(child=StrictUUIDField(), required=False)
    forced_tool = StrictCharField(required=False, allow_null=True)
    client_message_id = StrictCharField(
        required=False, allow_null=True, allow_blank=False, max_length=MAX_CLIENT_MESSAGE_ID_CHARACTERS
    )
    additional_context = StrictCharField(
        required=False, allow_null=True, max_length=MAX_ADDITIONAL_CONTEXT_CHARACTERS
    )


class RegenerationBody(StrictSerializer):
    models = ModelNamesField(required=False)


class TurnsView(StrictAPIView):
    @documented("turns_create", body=TurnBody, answer=StartedAnswer, statuses=(202, 200))
    def post(self, request: Request, session: str) -> Response:
        """Start a turn. 200 if the request repeats an earlier client_message_id (or Idempotency-Key header)."""
        found = get_own_session(request, session)
        started = start_turn(found, parse_turn_request(request.data, request.headers.get("Idempotency-Key")))
        return Response(
            present_turn(started.turn, started.runs),
            status.HTTP_200_OK if started.is_repeat else status.HTTP_202_ACCEPTED,
        )


class RegenerationsView(StrictAPIView):
    @documented("regenerations_create", body=RegenerationBody, answer=StartedAnswer, statuses=(202,))
    def post(self, request: Request, message: str) -> Response:
        """Answer a question again; the new answers become siblings of the earlier ones."""
        found = get_own_message(request, message)
        models = self.body(RegenerationBody).get("models")
        started = regenerate_turn(found, tuple(models) if models is not None else None)
        return Response(present_turn(started.turn, started.runs), status.HTTP_202_ACCEPTED)


class TurnCancellationView(StrictAPIView):
    @documented("turns_cancel", answer=StatusAnswer, statuses=(202, 200))
    def post(self, request: Request, turn: str) -> Response:
        """Stop all runs of a turn. 200 if they have already ended."""
        rows = Turn.objects.filter(session__owner=current_user(request))
        return stop_response(cancellation.stop_turn(get_own_row(rows, turn, "turn")))


def stop_response(outcome: StopOutcome) -> Response:
    code = status.HTTP_200_OK if outcome.had_ended else status.HTTP_202_ACCEPTED
    return Response({"status": outcome.status}, code)


def parse_turn_request(body: Any, idempotency_key: str | None = None) -> TurnRequest:
    """Validate the body of POST turns, or the members of a websocket `send`. Raises ValidationError, ApiError."""
    fields = {
        name: value
        for name, value in _shared_turn_body().run_validation(body).items()
        if name == "parent" or value is not None
    }
    fields.setdefault("client_message_id", _validate_idempotency_key(idempotency_key))
    for name in ("models", "files"):
        if name in fields:
            fields[name] = tuple(str(one) for one in fields[name])
    return TurnRequest(**fields)


@cache
def _shared_turn_body() -> TurnBody:
    """Return one serializer for all requests: building it costs more than validation, which keeps no state in it."""
    return TurnBody()


def _validate_idempotency_key(idempotency_key: str | None) -> str | None:
    if idempotency_key is None:
        return None
    if not (idempotency_key.isprintable() and 1 <= len(idempotency_key) <= MAX_CLIENT_MESSAGE_ID_CHARACTERS):
        raise ApiError("invalid_value", field="Idempotency-Key")
    return idempotency_key
