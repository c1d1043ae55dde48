"""Views of tool calls that wait for their user's approval or answer: list the open ones, decide on one."""

import json
from typing import Annotated, Any, Final

from django.urls import reverse
from msgspec import UNSET, Meta, UnsetType
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
from chat.protocol.body import Body, parse_id, rule
from chat.protocol.errors import ApiError
from chat.protocol.member_types import choice, doc
from chat.turns.approvals import Reply, decide, get_approval
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.site_origin import site_url

MAX_ARGUMENTS_CHARACTERS: Final = 100_000
# The most listed calls of one user: a few runs with as many calls as one round may have.
MAX_LISTED: Final = 500


def _check_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENTS_CHARACTERS:
        raise ApiError("invalid_value", f"At most {MAX_ARGUMENTS_CHARACTERS} characters.")
    return arguments


# The arguments of a tool. Whether the tool accepts them is checked by the use case.
_Arguments = Annotated[dict[str, Any], rule(_check_arguments)]


class ApprovalBody(Body):
    approved: Annotated[
        bool,
        doc(
            "Of a question: whether it is answered; false: declined. Of an address: that the user is done there. "
            "Of a sign-in: true asks whether there is one now, which lets the call go on by itself as soon as there is; "
            "false: goes on without."
        ),
    ]
    note: Annotated[
        str, Meta(max_length=MAX_NOTE_CHARACTERS), doc("With a refusal or an answer, the model reads it.")
    ] = ""
    values: (
        Annotated[
            _Arguments,
            doc(
                "The answer to a question, by the names of its form, which it has to fit. "
                f"At most {MAX_ARGUMENTS_CHARACTERS} characters."
            ),
        ]
        | UnsetType
    ) = UNSET
    arguments: (
        Annotated[
            _Arguments,
            doc(
                "Instead of those that the model wants; they have to match the tool's schema. "
                f"At most {MAX_ARGUMENTS_CHARACTERS} characters."
            ),
        ]
        | UnsetType
    ) = UNSET
    remember: (
        Annotated[
            str,
            choice(["session"]),
            doc("Later calls of the tool in this session are not asked about. Not of questions."),
        ]
        | UnsetType
    ) = UNSET

    def reply(self) -> Reply:
        sent = self.members()
        return Reply(
            is_approved=self.approved,
            note=self.note,
            arguments=sent.get("arguments"),
            is_remembered=bool(self.remember),
            values=sent.get("values"),
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
        approval = decide(get_approval(current_user(request), pk), self.parse(ApprovalBody).reply())
        return Response(present_decision(approval), status.HTTP_202_ACCEPTED)
