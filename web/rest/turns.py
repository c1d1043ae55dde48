"""Views of turns: send a message, regenerate or continue an answer, cancel a turn."""

from typing import Annotated, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from msgspec import UNSET, Meta, UnsetType
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Run, Turn
from chat.presenters.runs import StatusAnswer
from chat.presenters.turns import StartedAnswer, present_turn
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.runs import cancellation
from chat.runs.cancellation import StopOutcome
from chat.turns.continuation import continue_answer
from chat.turns.regeneration import RegenerationRequest, regenerate_turn
from chat.turns.request import (
    MAX_ADDITIONAL_CONTEXT_CHARACTERS,
    MAX_CLIENT_MESSAGE_ID_CHARACTERS,
    MAX_FILES,
    TurnRequest,
)
from chat.turns.start import start_turn
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.messages import get_own_message
from web.rest.openapi import documented
from web.rest.run_options import OptionsBody
from web.rest.sessions import get_own_session
from web.schema.body import Body
from web.schema.members import KnowledgeBases, MessageText, SomeModels, Text, Tool


class TurnBody(Body):
    text: MessageText
    parent: Annotated[
        UUID | UnsetType | None, doc("Default: the tip of the current branch. Null: the root.")
    ] = UNSET
    models: SomeModels | UnsetType = UNSET
    # TurnRequest checks their number.
    files: (
        Annotated[list[UUID], Meta(extra_json_schema={"maxItems": MAX_FILES, "uniqueItems": True})]
        | UnsetType
    ) = UNSET
    forced_tool: Tool | UnsetType | None = UNSET
    client_message_id: (
        Annotated[Text, Meta(max_length=MAX_CLIENT_MESSAGE_ID_CHARACTERS)] | UnsetType | None
    ) = UNSET
    additional_context: (
        Annotated[str, Meta(max_length=MAX_ADDITIONAL_CONTEXT_CHARACTERS)] | UnsetType | None
    ) = UNSET
    knowledge_bases: Annotated[
        KnowledgeBases | UnsetType | None, doc("If any is named, they alone are searched for this question.")
    ] = UNSET
    options: OptionsBody | UnsetType | None = UNSET

    def request(self, idempotency_key: str | None = None) -> TurnRequest:
        """Return the request to start a turn. Raises ApiError."""
        sent = self.members()
        members = {
            name: sent[name]
            for name in TurnBody.__struct_fields__
            if name in sent and (name == "parent" or sent[name] is not None)
        }
        members.setdefault("client_message_id", _validate_idempotency_key(idempotency_key))
        for name in ("models", "files"):
            if name in members:
                members[name] = tuple(map(str, members[name]))
        if "knowledge_bases" in members:
            members["knowledge_bases"] = tuple(members["knowledge_bases"])
        return TurnRequest(**members)


class ReplacedBody(Body):
    run: UUID


class RegenerationBody(Body):
    # A column has the answer of one model.
    keywords = {"not": {"required": ["models", "replace"], "properties": {"models": {"minItems": 2}}}}

    models: SomeModels | UnsetType = UNSET
    replace: ReplacedBody | UnsetType = UNSET
    options: OptionsBody | UnsetType | None = UNSET


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
        started = start_turn(found, self.parse(TurnBody).request(request.headers.get("Idempotency-Key")))
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
        body = self.parse(RegenerationBody)
        asked = RegenerationRequest(
            tuple(body.models) if body.models else None,
            body.replace.run if body.replace else None,
            body.options.members() if body.options else {},
        )
        started = regenerate_turn(found, asked)
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
