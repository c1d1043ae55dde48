"""Calls that need their user's approval: which they are, and what a decision makes of them. Pure.

The run of such a call ends its attempt without an end (ApprovalNeeded) and holds no worker while it waits. Any worker goes
on after the decision (chat/turns/approvals.py). Calls inside agent tools cannot wait, so tools that need approval are not
offered there.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from chat.transcript.rebuild import ShownDecision
from llm_worker.tool_calls.calls import CallResult, PlannedCall
from llm_worker.tools.tool import Tool


class ApprovalNeeded(Exception):
    """All other calls of the round have ended, and those left wait for decisions."""


def mark_for_approval(calls: Sequence[PlannedCall], names: Collection[str]) -> list[PlannedCall]:
    """Mark the calls that can run, of tools that need approval. names: of those."""
    return [
        replace(call, needs_approval=True)
        if call.result is None and call.tool and call.name in names
        else call
        for call in calls
    ]


def without_tools(tools: Sequence[Tool], names: Collection[str]) -> list[Tool]:
    return [tool for tool in tools if tool.name not in names]


def after_decision(call: PlannedCall, decision: ShownDecision) -> PlannedCall:
    """A call that waited, as the user has decided about it."""
    match decision.decision:
        case "":
            return replace(call, needs_approval=True)
        case "approved":
            return replace(call, arguments=decision.arguments, is_approved=True)
        case "expired":
            said = f"{call.name} was not run: nobody approved it in time."
        case _:
            said = f"The user refused this call of {call.name}; it was not run."
            if decision.note:
                said += f" They say: {decision.note}"
    return replace(call, result=CallResult("refused", said))
