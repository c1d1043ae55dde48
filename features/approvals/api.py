"""The routes of tool calls that wait for their user's approval or answer: list the open ones, decide on one."""

from typing import Annotated, Any, Final
from uuid import UUID

from django.urls import path, reverse
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Approval
from chat.models.approval import Kind
from chat.presenters.json_values import JSONObject
from chat.presenters.page_bytes import count_fitting, text_bytes
from chat.protocol.answer import ADDRESS, Answer, Moment, choice, doc
from chat.protocol.body import parse_id
from chat.protocol.call_answers import (
    CHANGED,
    SUMMARY,
    AddressQuestionAnswer,
    QuestionAnswer,
    SignInQuestionAnswer,
)
from chat.protocol.errors import ApiError
from chat.turns.approvals import ApprovalBody, DecisionAnswer, decide, get_approval, present_decision
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.site_origin import site_url

# The most listed calls of one user: a few runs with as many calls as one round may have.
MAX_LISTED: Final = 500


class OpenSignInAnswer(SignInQuestionAnswer):
    url: Annotated[str, ADDRESS, doc("The page of the user's sign-ins, to be opened in a browser.")]


class OpenApprovalAnswer(Answer, kw_only=True):
    kind: Annotated[str, choice(Kind)]
    tool_call: UUID
    run: UUID
    session: UUID
    name: str
    arguments: dict[str, Any]
    requested_at: Moment
    expires_at: Moment
    question: QuestionAnswer | UnsetType = UNSET
    sign_in: OpenSignInAnswer | UnsetType = UNSET
    address: AddressQuestionAnswer | UnsetType = UNSET
    changed: Annotated[str | UnsetType, CHANGED] = UNSET
    summary: Annotated[str | UnsetType, SUMMARY] = UNSET


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
        approval = decide(get_approval(current_user(request), pk), self.parse(ApprovalBody))
        return Response(present_decision(approval), status.HTTP_202_ACCEPTED)


def present_open_approval(approval: Approval, sign_in_url: str) -> JSONObject:
    """Present an open approval, which has `tool_call` joined. sign_in_url: the page of the user's sign-ins."""
    question = approval.present_asked()
    if "sign_in" in question:
        question["sign_in"] = OpenSignInAnswer(**asdict(question["sign_in"]), url=sign_in_url)
    return OpenApprovalAnswer.from_row(
        approval,
        tool_call=approval.tool_call_id,
        run=approval.tool_call.run_id,
        session=approval.session_id,
        **question,
    ).json()


urlpatterns = [
    path("approvals/", ApprovalsView.as_view()),
    path("tool-calls/<id:tool_call>/approval/", ApprovalView.as_view()),
]
