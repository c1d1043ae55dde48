"""Open and decided approvals of tool calls, and what they ask, as clients see them."""

from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.models import Approval
from chat.models.approval import Decision, Kind
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import ADDRESS, Moment, choice, doc
from chat.protocol.tool_change import CHANGED, SUMMARY

# The decisions of a user; time or a stop makes the others.
DECISIONS: Final = (
    Decision.APPROVED,
    Decision.REFUSED,
    Decision.ANSWERED,
    Decision.DECLINED,
    Decision.SIGNED_IN,
)


class QuestionAnswer(Answer):
    message: str
    form: Annotated[
        dict[str, Any],
        doc(
            "A JSON Schema of an object with primitive properties, as elicitation in the Model Context Protocol."
        ),
    ]


class SignInQuestionAnswer(Answer):
    server: Annotated[
        UUID | None,
        doc("`POST mcp-servers/{server}/sign-in/` begins to sign in to it; null: it was deleted."),
    ]
    name: Annotated[str, doc("The server's.")]
    again: Annotated[
        bool, doc("Whether the call had a sign-in, which has expired, or does not have enough rights.")
    ]


class AddressQuestionAnswer(Answer):
    message: str
    url: Annotated[str, doc("Chosen by the server: show it as it is before it is opened in a browser.")]


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
        question["sign_in"] |= {"url": sign_in_url}
    return OpenApprovalAnswer.from_row(
        approval,
        tool_call=approval.tool_call_id,
        run=approval.tool_call.run_id,
        session=approval.session_id,
        **question,
    ).json()


def present_decision(approval: Approval) -> JSONObject:
    return DecisionAnswer.from_row(approval, tool_call=approval.tool_call_id).json()
