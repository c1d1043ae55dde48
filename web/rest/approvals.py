"""Views of tool calls that wait for their user's approval or answer: list the open ones, decide on one."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Approval
from chat.models.approval import MAX_NOTE_CHARACTERS
from chat.presenters.approvals import (
    DecisionAnswer,
    OpenApprovalAnswer,
    present_decision,
    present_open_approval,
)
from chat.presenters.page_bytes import count_fitting, text_bytes
from chat.protocol.errors import ApiError
from chat.turns.approvals import Reply, decide, get_approval
from web.rest.api_view import StrictAPIView, current_user
from web.rest.fields import (
    MESSAGES,
    DescribedField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictSerializer,
    parse_id,
)
from web.rest.openapi import documented
from web.site_origin import site_url

MAX_ARGUMENTS_CHARACTERS: Final = 100_000
# The most listed calls of one user: a few runs with as many calls as one round may have.
MAX_LISTED: Final = 500


@extend_schema_field(OpenApiTypes.OBJECT)
class ArgumentsField(DescribedField):
    """The arguments of a tool: an object. Whether the tool accepts them is checked by the use case."""

    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid_type")
        if len(json.dumps(data, ensure_ascii=False)) > MAX_ARGUMENTS_CHARACTERS:
            self.fail("invalid_value")
        return data

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "additionalProperties": True,
            "description": f"At most {MAX_ARGUMENTS_CHARACTERS} characters.",
        }


class ApprovalBody(StrictSerializer):
    approved = StrictBooleanField(
        help_text="Of a question: whether it is answered; false: declined. Of an address: that the user is done there. Of a sign-in: true asks whether there is one now, which lets the call go on by itself as soon as there is; false: goes on without."
    )
    note = StrictCharField(
        required=False,
        max_length=MAX_NOTE_CHARACTERS,
        help_text="With a refusal or an answer, the model reads it.",
    )
    values = ArgumentsField(
        required=False,
        help_text="The answer to a question, by the names of its form, which it has to fit.",
    )
    arguments = ArgumentsField(
        required=False,
        help_text="Instead of those that the model wants; they have to match the tool's schema.",
    )
    remember = StrictChoiceField(
        choices=["session"],
        required=False,
        help_text="Later calls of the tool in this session are not asked about. Not of questions.",
    )


class ApprovalsView(StrictAPIView):
    @documented("approvals_list", answer=list[OpenApprovalAnswer])
    def get(self, request: Request) -> Response:
        """List the user's tool calls that wait for approval, an answer or a sign-in, oldest first, at most 500.
        Long ones are fewer: the others follow when these are decided.
        """
        waiting = Approval.objects.open_for(current_user(request)).select_related("tool_call")
        sign_ins = site_url(reverse("mcp_servers"))
        sizes = waiting.values_list(text_bytes("arguments", "message", "form"), flat=True)[:MAX_LISTED]
        listed = waiting[: count_fitting(sizes)]
        return Response([present_open_approval(approval, sign_ins) for approval in listed])


class ApprovalView(StrictAPIView):
    @documented("approvals_decide", body=ApprovalBody, answer=DecisionAnswer, statuses=(202,))
    def post(self, request: Request, tool_call: str) -> Response:
        """Approve or refuse a tool call, or answer or decline its question.
        The run goes on once all calls that wait with this one are decided.
        """
        pk = parse_id(tool_call)
        if pk is None:
            raise ApiError("invalid_id")
        approval = decide(get_approval(current_user(request), pk), parse_reply(self.body(ApprovalBody)))
        return Response(present_decision(approval), status.HTTP_202_ACCEPTED)


def parse_reply(body: Mapping[str, Any]) -> Reply:
    return Reply(
        is_approved=body["approved"],
        note=body.get("note", ""),
        arguments=body.get("arguments"),
        is_remembered=body.get("remember") == "session",
        values=body.get("values"),
    )
