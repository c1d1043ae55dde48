"""Calls that wait for their user, who approves them or answers their questions. Pure.

Marks the calls that must wait, and plans them again after a decision.

The attempt at the run of such a call ends (ApprovalNeeded), but the run does not, and it holds no worker while it
waits. Any worker goes on after the decision (chat/turns/approvals.py). Calls inside agent tools cannot wait, so tools
that need approval are not offered there.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from chat.transcript.forms import Question, describe_answer
from chat.transcript.questions import AddressQuestion, AnyQuestion, SignInQuestion
from chat.transcript.rebuild import ShownDecision
from llm_worker.loop.calls import CallResult, PlannedCall, refuse
from llm_worker.tools.tool import Tool, ToolFailed


class ApprovalNeeded(Exception):
    """All calls of the round have ended, except those that wait for decisions."""


def mark_for_approval(calls: Sequence[PlannedCall], names: Collection[str]) -> list[PlannedCall]:
    """Mark calls that can run, but ask their user something or need approval. names: the tools that need approval."""
    return [_marked(call, names) for call in calls]


def _marked(call: PlannedCall, names: Collection[str]) -> PlannedCall:
    if call.result or call.tool is None:
        return call
    try:
        question = call.tool.question(call.arguments)
    except ToolFailed as error:
        return refuse(call, f"{call.name} was not run: {error}")
    if question is None:
        return replace(call, needs_approval=True) if call.name in names else call
    return replace(call, needs_approval=True, question=question)


def without_tools(tools: Sequence[Tool], names: Collection[str]) -> list[Tool]:
    return [tool for tool in tools if tool.name not in names]


def after_decision(call: PlannedCall, decision: ShownDecision) -> PlannedCall:
    """Plan a call that waited, according to the decision of its user."""
    match decision.decision:
        case "":
            return replace(call, needs_approval=True, question=decision.question)
        case "approved":
            return replace(call, arguments=decision.arguments, is_approved=True)
        case "signed_in":
            return replace(call, is_approved=True)
        case "answered" | "declined" if not (_is_sign_in(decision) or _asks_first(call)):
            return replace(call, is_approved=True)
        case "answered" if isinstance(decision.question, Question):
            answer = describe_answer(decision.answer, decision.question.form)
            said = f"{answer}\nThey add: {decision.note}" if decision.note else answer
            return replace(call, result=CallResult("completed", said))
    return replace(call, result=CallResult("refused", _refusal(call, decision)))


def _asks_first(call: PlannedCall) -> bool:
    """Return whether the answer is the result. Otherwise the call runs again, and its tool gets the answer."""
    return call.tool is not None and call.tool.question(call.arguments) is not None


def _is_sign_in(decision: ShownDecision) -> bool:
    """Return whether the call waited for a sign-in. If the user declines, the server is not told."""
    return isinstance(decision.question, SignInQuestion)


def _refusal(call: PlannedCall, decision: ShownDecision) -> str:
    in_time, said = _refusals(call, decision.question)
    if decision.decision == "expired":
        return in_time
    return f"{said} They say: {decision.note}" if decision.note else said


def _refusals(call: PlannedCall, question: AnyQuestion | None) -> tuple[str, str]:
    """Return the responses of a call if nobody decided in time, and if the user refused."""
    match question:
        case Question() | AddressQuestion():
            return "The user did not answer in time.", "The user declined to answer."
        case SignInQuestion(name=name):
            return (
                f"{call.name} was not run: the user did not sign in to {name} in time.",
                f"{call.name} was not run: the user does not sign in to {name}.",
            )
    return (
        f"{call.name} was not run: nobody approved it in time.",
        f"The user refused this call of {call.name}; it was not run.",
    )
