"""Open and decided approvals of tool calls, and what they ask, as clients see them."""

from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from chat.models import Approval
from chat.models.approval import Decision, Kind
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.call_answers import (
    CHANGED,
    SUMMARY,
    AddressQuestionAnswer,
    QuestionAnswer,
    SignInQuestionAnswer,
)
from chat.protocol.member_types import ADDRESS, Moment, choice, doc

# The decisions of a user; time or a stop makes the others.
DECISIONS: Final = (
    Decision.APPROVED,
    Decision.REFUSED,
    Decision.ANSWERED,
    Decision.DECLINED,
    Decision.SIGNED_IN,
)


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


class DecisionAnswer(Answer):
    tool_call: UUID
    decision: Annotated[str, choice(DECISIONS)]


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


def present_decision(approval: Approval) -> JSONObject:
    return DecisionAnswer.from_row(approval, tool_call=approval.tool_call_id).json()
