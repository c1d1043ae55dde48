"""Open and decided approvals of tool calls, and what they ask, as clients see them."""

from chat.models import Approval
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.transcript.questions import present_question


def present_open_approval(approval: Approval) -> JSONObject:
    """approval: with `tool_call` joined."""
    return {
        "kind": approval.kind,
        "tool_call": str(approval.tool_call_id),
        "run": str(approval.tool_call.run_id),
        "session": str(approval.session_id),
        "name": approval.name,
        "arguments": approval.arguments,
        "requested_at": isoformat_utc(approval.requested_at),
        "expires_at": isoformat_utc(approval.expires_at),
        **present_question(approval.question),
    }


def present_decision(approval: Approval) -> JSONObject:
    return {"tool_call": str(approval.tool_call_id), "decision": approval.decision}
