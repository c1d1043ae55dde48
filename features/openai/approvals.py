"""Answers to the approvals that a response asks for, with which its run goes on."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from chat.models import Approval
from chat.protocol.errors import ApiError
from chat.turns.approvals import ApprovalBody, decide
from features.openai.conversation import ApprovalReply
from features.openai.models import RequestMembers, ResponseRequest
from features.openai.response_parts import ResponsePart


def answer_approvals(
    part: ResponsePart, replies: Mapping[str, ApprovalReply], members: RequestMembers
) -> ResponsePart:
    """Decide about the calls that the run waits for, and return the response that goes on. Raises ApiError; then none
    is decided.

    replies: by the ids of the items that ask.  members: of the request.
    """
    asked = part.requests
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


def present_decisions(before: ResponsePart) -> list[dict[str, Any]]:
    """Return the input of a response that goes on after decisions, wherever they were made. before: the one that asked."""
    return [
        {
            "id": f"mcpa_{call.id.hex}",
            "type": "mcp_approval_response",
            "approval_request_id": name,
            "approve": call.is_approved,
            "reason": call.note or None,
        }
        for name, call in before.requests.items()
    ]
