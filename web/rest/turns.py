"""Turns: send a message, answer one again, stop."""

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
from web.rest.fields import Id, ModelNames, StrictSerializer, Text
from web.rest.messages import own_message
from web.rest.openapi import documented
from web.rest.schemas import StartedAnswer, StatusAnswer
from web.rest.sessions import own_session
from web.rest.view import Endpoint, find, user_of


class TurnBody(StrictSerializer):
    text = Text()
    parent = Id(required=False, allow_null=True)  # type: ignore[assignment]
    models = ModelNames(required=False)
    files = ListField(child=Id(), required=False)
    forced_tool = Text(required=False, allow_null=True)
    client_message_id = Text(
        required=False, allow_null=True, allow_blank=False, max_length=MAX_CLIENT_MESSAGE_ID_CHARACTERS
    )
    additional_context = Text(required=False, allow_null=True, max_length=MAX_ADDITIONAL_CONTEXT_CHARACTERS)


class RegenerationBody(StrictSerializer):
    models = ModelNames(required=False)


class TurnsView(Endpoint):
    @documented("turns_create", body=TurnBody, answer=StartedAnswer, statuses=(202, 200))
    def post(self, request: Request, session: str) -> Response:
        """200: a repeat of an earlier request with the same client_message_id (or Idempotency-Key header)."""
        found = own_session(request, session)
        started = start_turn(found, turn_request(request.data, request.headers.get("Idempotency-Key")))
        return Response(
            present_turn(started.turn, started.runs),
            status.HTTP_200_OK if started.is_repeat else status.HTTP_202_ACCEPTED,
        )


class RegenerationsView(Endpoint):
    @documented("regenerations_create", body=RegenerationBody, answer=StartedAnswer, statuses=(202,))
    def post(self, request: Request, message: str) -> Response:
        found = own_message(request, message)
        models = self.body(RegenerationBody).get("models")
        started = regenerate_turn(found, tuple(models) if models is not None else None)
        return Response(present_turn(started.turn, started.runs), status.HTTP_202_ACCEPTED)


class TurnCancellationView(Endpoint):
    @documented("turns_cancel", answer=StatusAnswer, statuses=(202, 200))
    def post(self, request: Request, turn: str) -> Response:
        rows = Turn.objects.filter(session__owner=user_of(request))
        return stop_response(cancellation.stop_turn(find(rows, turn, "turn")))


def stop_response(outcome: StopOutcome) -> Response:
    code = status.HTTP_200_OK if outcome.had_ended else status.HTTP_202_ACCEPTED
    return Response({"status": outcome.status}, code)


def turn_request(body: Any, idempotency_key: str | None = None) -> TurnRequest:
    """The body of POST turns, or the members of a websocket `send`, as a value. Raises ValidationError, ApiError."""
    fields = {
        name: value
        for name, value in _turn_body().run_validation(body).items()
        if name == "parent" or value is not None
    }
    fields.setdefault("client_message_id", _accepted(idempotency_key))
    for name in ("models", "files"):
        if name in fields:
            fields[name] = tuple(str(one) for one in fields[name])
    return TurnRequest(**fields)


@cache
def _turn_body() -> TurnBody:
    """One for all: building its fields takes longer than what they do, and validation leaves nothing in them."""
    return TurnBody()


def _accepted(idempotency_key: str | None) -> str | None:
    if idempotency_key is None:
        return None
    if not (idempotency_key.isprintable() and 1 <= len(idempotency_key) <= MAX_CLIENT_MESSAGE_ID_CHARACTERS):
        raise ApiError("invalid_value", field="Idempotency-Key")
    return idempotency_key
