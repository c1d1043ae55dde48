"""What a run waits for, as interrupts of AG-UI, and the answers to them."""

from collections.abc import Mapping
from typing import Any, Final

from chat.models import Approval, Run
from chat.models.approval import Kind
from chat.protocol.states import Status
from chat.turns.approvals import ApprovalBody
from features.agui.run_input import AgUiResumeBody

_REASONS: Final = {
    Kind.APPROVAL: "tool_call",
    Kind.QUESTION: "question",
    Kind.ADDRESS: "address",
    Kind.SIGN_IN: "sign_in",
}
# Members of a decision -> what the client calls them.
DECISION_FIELDS: Final = {
    "approved": "payload.approved",
    "arguments": "payload.editedArgs",
    "note": "payload.note",
    "values": "payload",
}


def open_interrupts(run: Run) -> list[dict[str, Any]]:
    """Return what a run waits for; empty if it does not wait (any more). Calls have the ids of the model."""
    waiting = Run.objects.filter(pk=run.pk, status=Status.WAITING).values("pk")
    asked = Approval.objects.undecided().filter(tool_call__run__in=waiting).select_related("tool_call")
    return [_interrupt(approval) for approval in asked.order_by("requested_at", "pk")]


def _interrupt(approval: Approval) -> dict[str, Any]:
    call = approval.tool_call
    metadata = {
        "name": approval.name,
        "arguments": approval.arguments,
        "summary": approval.summary,
        "url": approval.url,
    }
    return {
        "id": str(call.pk),
        "reason": _REASONS[Kind(approval.kind)],
        "message": approval.message or f"May {approval.name} run?",
        "toolCallId": call.tool_call_id,
        "responseSchema": _response_schema(approval),
        "expiresAt": approval.expires_at.isoformat(),
        "metadata": {name: value for name, value in metadata.items() if value},
    }


def _response_schema(approval: Approval) -> Mapping[str, Any]:
    kind, question = Kind(approval.kind), approval.question
    if kind == Kind.QUESTION:
        form: Mapping[str, Any] = getattr(question, "form", {})
        return form
    properties: dict[str, Any] = {"approved": {"type": "boolean"}}
    if kind == Kind.APPROVAL:
        properties |= {"editedArgs": approval.parameters or {"type": "object"}, "note": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["approved"]}


def parse_decision(entry: AgUiResumeBody, approval: Approval) -> ApprovalBody:
    """Return the decision that an answer tells. Raises ApiError, with a field of DECISION_FIELDS."""
    payload = entry.payload
    if entry.status == "cancelled":
        return ApprovalBody(approved=False)
    if approval.kind == Kind.QUESTION:
        return ApprovalBody.parse({"approved": True, "values": payload})
    if not isinstance(payload, Mapping):
        # An address or a sign-in is answered by saying that it is done.
        has_no_answer = payload is None and approval.kind != Kind.APPROVAL
        return ApprovalBody.parse({"approved": True if has_no_answer else payload})
    names = {"approved": "approved", "editedArgs": "arguments", "note": "note"}
    return ApprovalBody.parse({names[name]: payload[name] for name in names if payload.get(name) is not None})
