"""Answers to the approvals that a response asks for, with which its run goes on."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from chat.models import Approval
from chat.protocol.errors import ApiError
from chat.turns.approvals import ApprovalBody, decide
from features.openai.conversation import ApprovalReply
from features.openai.models import RequestMembers, ResponseRequest
from features.openai.response_parts import ResponsePart


def answer_approvals(
    part: ResponsePart,
    names: Sequence[str],
    replies: Mapping[str, ApprovalReply],
    members: RequestMembers,
) -> ResponsePart:
    """Decide about the calls that the run waits for, and return the response that goes on. Raises ApiError; then none
    is decided.

    names: the ids of the items that ask, in the order of tabs.  replies: by these ids.  members: of the request.
    """
    asked = dict(zip(names, part.end.asked.values() if part.end else (), strict=True))
    if not replies.keys() <= asked.keys():
        raise ApiError("invalid_value", "The response asks for no such approval.", field="text")
    if not all(asked[name].is_open for name in replies):
        raise ApiError("already_decided", field="text")
    undecided = {name: call.id for name, call in asked.items() if call.is_open}
    if replies.keys() != undecided.keys():
        raise ApiError("invalid_value", "Answer each request of the response.", field="text")
    approvals = Approval.objects.select_related("session").in_bulk(list(undecided.values()))
    with transaction.atomic():
        for name, approval in undecided.items():
            reply = replies[name]
            decide(approvals[approval], ApprovalBody(approved=reply.is_approved, note=reply.reason))
        ResponseRequest.objects.store_part(part.run, part.number + 1, members)
    return ResponsePart(part.run, part.number + 1).load_again()


def present_decisions(names: Sequence[str], part: ResponsePart) -> list[dict[str, Any]]:
    """Return the input of a response that goes on after decisions, wherever they were made.

    names: the ids of the items that asked, in the order of tabs.
    """
    decided = part.start.asked.values() if part.start else ()
    return [
        {
            "id": f"mcpa_{call.id.hex}",
            "type": "mcp_approval_response",
            "approval_request_id": name,
            "approve": call.is_approved,
            "reason": call.note or None,
        }
        for name, call in zip(names, decided, strict=True)
    ]
