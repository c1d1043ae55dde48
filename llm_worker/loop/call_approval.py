"""Calls that wait for their user, who approves them or answers their questions. Pure.

Marks the calls that must wait, and plans them again after a decision.

The attempt at the run of such a call ends (ApprovalNeeded), but the run does not, and it holds no worker while it
waits. Any worker goes on after the decision (chat/turns/approvals.py). Calls inside agent tools cannot wait, so tools
that need approval are not offered there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from chat.transcript.questions import AddressQuestion, AnyQuestion, Question, SignInQuestion, describe_answer
from chat.transcript.rebuild import ShownDecision
from chat.transcript.tools import ToolIdentity
from llm_worker.loop.calls import CallResult, PlannedCall, refuse, schema_error
from llm_worker.tools.tool import Tool, ToolFailed


class ApprovalNeeded(Exception):
    """All calls of the round have ended, except those that wait for decisions."""


def needed_approvals(
    tools: Sequence[Tool], allowed: Mapping[str, Sequence[ToolIdentity]]
) -> Mapping[str, str]:
    """Return which of these tools the user has not allowed, by name, with what changed since they did.
    tools: those that need approval.  allowed: what the user has allowed by name, the latest last.
    """
    asking = {}
    for tool in tools:
        before = allowed.get(tool.name, ())
        if tool.identity not in before:
            asking[tool.name] = before[-1].change_to(tool.identity) if before else ""
    return asking


def mark_for_approval(calls: Sequence[PlannedCall], asking: Mapping[str, str]) -> list[PlannedCall]:
    """Mark calls that can run, but ask their user something or need approval. asking: from needed_approvals."""
    return [_marked(call, asking) for call in calls]


def _marked(call: PlannedCall, asking: Mapping[str, str]) -> PlannedCall:
    if call.result or call.tool is None:
        return call
    try:
        question = call.tool.question(call.arguments)
    except ToolFailed as error:
        return refuse(call, f"{call.name} was not run: {error}")
    if question is None:
        changed = asking.get(call.name)
        return call if changed is None else replace(call, needs_approval=True, changed=changed)
    return replace(call, needs_approval=True, question=question)


def without_tools(tools: Sequence[Tool], names: Collection[str]) -> list[Tool]:
    return [tool for tool in tools if tool.name not in names]


def after_decision(
    call: PlannedCall, decision: ShownDecision, asked_about: ToolIdentity | None
) -> PlannedCall:
    """Plan a call that waited, according to the decision of its user, who is asked again about another tool."""
    planned = _decided(call, decision)
    if planned.tool is None or not planned.is_approved or planned.tool.identity == asked_about:
        return planned
    if error := schema_error(planned.tool, planned.arguments):
        return refuse(planned, f"{call.name} was not run: {error}")
    changed = asked_about.change_to(planned.tool.identity) if asked_about else ""
    return replace(
        planned, is_approved=False, needs_approval=True, is_asked_again=True, changed=changed, answers=()
    )


def _decided(call: PlannedCall, decision: ShownDecision) -> PlannedCall:
    match decision.decision:
        case "":
            return replace(call, needs_approval=True, question=decision.question, changed=decision.changed)
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
