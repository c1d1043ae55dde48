"""Plans the calls of one round: validates, merges and limits them, and marks those that wait for their user. Pure.

A call that cannot run gets a one-sentence response, so that the model may try something else. Calls that wait are planned
again after the decision.

The attempt at the run of a call that waits ends (ApprovalNeeded), but the run does not, and it holds no worker while it
waits. Any worker goes on after the decision (chat/turns/approvals.py). Calls inside agent tools cannot wait, so tools
that need approval are not offered there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from chat.protocol.call_answers import NO_FACTS, CallFacts
from chat.transcript.entries import Document, Image
from chat.transcript.questions import (
    AddressQuestion,
    Answered,
    AnyQuestion,
    Question,
    SignInQuestion,
    describe_answer,
    present_asked,
)
from chat.transcript.rebuild import ShownDecision
from chat.transcript.tool_arguments import as_wanted, first_violation
from chat.transcript.tools import AskedTool, ToolIdentity, first_sentence
from llm_worker.loop.allowance import Allowance
from llm_worker.request.parameter_schema import own_arguments
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.tools.tool import Tool, ToolFailed

# Each call is a row, a task and two messages of every later request.
MAX_CALLS = 32
MAX_ERROR_CHARACTERS = 300

# The members of chat.models.ToolCallStatus with which a call ends here.
ResultStatus = Literal["completed", "failed", "unknown", "refused"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call. documents: numbered, as the response shows them.

    is_safe_summary: the response stands for documents, none of which may be shown.
    arguments: the arguments that really ran; None: the arguments of the call.
    is_knowledge_search: the response shows documents of knowledge bases.
    structured: the response as JSON, for clients.  images: images that are stored and can be shown.
    """

    status: ResultStatus
    response: str
    documents: tuple[Document, ...] = ()
    facts: CallFacts = field(default=NO_FACTS, compare=False)
    is_safe_summary: bool = False
    arguments: Mapping[str, Any] | None = None
    is_knowledge_search: bool = False
    structured: Mapping[str, Any] | None = None
    images: tuple[Image, ...] = ()

    @property
    def logged_as(self) -> str:
        """The prefix of the log lines about storing the result; empty if nothing is logged."""
        if self.is_safe_summary:
            return "safe_summary"
        return "knowledge_search" if self.is_knowledge_search else ""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a round; its index in the round is its tab.

    tool: None if no tool has this name.  result: set if the call was refused, or ended in an earlier attempt.
    needs_approval: the call waits for a decision.  is_approved: the call waited, and has not run since.
    question: the question whose answer the call waits for.  answers: the answers to questions it asked while it ran.
    changed: a ToolChange since the user has allowed the tool; empty: none.  is_asked_again: the user has decided, but
    about another tool of this name.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    tool: Tool | None
    result: CallResult | None = None
    needs_approval: bool = False
    is_approved: bool = False
    question: AnyQuestion | None = None
    answers: tuple[Answered, ...] = ()
    changed: str = ""
    is_asked_again: bool = False

    @property
    def is_handed_over(self) -> bool:
        """Whether the caller carries it out."""
        return self.result is None and self.tool is not None and self.tool.is_callers

    @property
    def asked_tool(self) -> AskedTool:
        if self.tool is None:
            return AskedTool({})
        return AskedTool(
            dict(self.tool.parameters),
            self.tool.identity,
            self.changed,
            first_sentence(self.tool.description),
        )

    def present_asked(self) -> dict[str, Any]:
        """Return what the user is asked, as members of the call for clients."""
        tool = self.asked_tool
        return present_asked(self.question, tool.changed, tool.summary)


def plan_calls(requested: Sequence[RequestedCall], tools: Sequence[Tool]) -> list[PlannedCall]:
    """Plan the calls of a round, in tab order. tools: the tools offered in this cycle.

    Several calls of a tool that merges become one, in the place of the first.
    """
    by_name = {tool.name: tool for tool in tools}
    calls = [_planned(one, by_name) for one in requested]
    for tool in tools:
        if tool.merges:
            calls = _merged(calls, tool)
    return calls[:MAX_CALLS] + [
        refuse(call, f"Not run: one step may make at most {MAX_CALLS} calls.") for call in calls[MAX_CALLS:]
    ]


def admit(calls: Sequence[PlannedCall], allowance: Allowance) -> list[PlannedCall]:
    """Count the calls that can run against the limits of the run, and refuse calls beyond the limits."""
    return [_admitted(call, allowance) for call in calls]


def _admitted(call: PlannedCall, allowance: Allowance) -> PlannedCall:
    if call.result or call.tool is None:
        return call
    # Calls that need approval count too: otherwise a run could wait for more calls than it may make.
    refusal = allowance.take_call(call.tool.count_searches(call.arguments))
    return refuse(call, f"{refusal} Answer with what you have.") if refusal else call


def no_such_tool(name: str) -> CallResult:
    return CallResult("failed", f"There is no tool named {name}.")


def with_notes(result: CallResult, answers: Sequence[Answered]) -> CallResult:
    """Append the notes that the user added to the answers to the result: the tool got only the answers."""
    notes = (f"The user adds: {answered.note}" for answered in answers if answered.note)
    return replace(result, response="\n\n".join((result.response, *notes)))


def plan_after_loss(call: PlannedCall) -> PlannedCall:
    """Plan a call whose result an earlier attempt may have lost: it runs again only if its tool is idempotent."""
    if call.result or (call.tool and call.tool.annotations.may_run_again):
        return call
    return replace(call, result=_lost(call))


def plan_after_end(call: PlannedCall, status: str) -> PlannedCall:
    """Plan a call that ended with the run, which its user now continues: it never runs again, whatever its tool does.

    Its arguments may be cut off, or its approval missing. status: of chat.models.ToolCallStatus.
    """
    if call.result:
        return call
    if status == "unknown":
        return replace(call, result=_lost(call))
    return replace(call, result=CallResult("refused", f"{call.name} was not run: the answer had ended."))


def _lost(call: PlannedCall) -> CallResult:
    sentence = f"The outcome of this call of {call.name} was lost: it may or may not have taken effect."
    return CallResult("unknown", sentence)


def _planned(asked: RequestedCall, by_name: Mapping[str, Tool]) -> PlannedCall:
    name, tool = asked.name, by_name.get(asked.name)
    call = PlannedCall(asked.id, name, asked.arguments or {}, tool)
    if tool is None:
        return replace(call, result=no_such_tool(name))
    if asked.is_cut:
        return refuse(
            call, f"{name} was not run: your output limit cut its arguments off. Write shorter ones."
        )
    if asked.arguments is None:
        return refuse(call, f"{name} was not run: its arguments were not a JSON object.")
    arguments = own_arguments(asked.arguments, tool.parameters)
    if error := schema_error(tool, arguments):
        arguments = as_wanted(arguments, tool.parameters)
        error = schema_error(tool, arguments)
    call = replace(call, arguments=arguments)
    return refuse(call, f"{name} was not run: {error}") if error else call


def refuse(call: PlannedCall, sentence: str) -> PlannedCall:
    return replace(call, result=call.result or CallResult("failed", sentence), needs_approval=False)


def schema_error(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the first violation of the tool's schema, as the end of a sentence; empty if there is none."""
    error = first_violation(arguments, tool.parameters)
    if error is None:
        return ""
    where = f"its argument {error.json_path.removeprefix('$.')}" if error.path else "its arguments"
    return f"{where} did not match the schema ({error.message[:MAX_ERROR_CHARACTERS]})."


def _merged(calls: list[PlannedCall], tool: Tool) -> list[PlannedCall]:
    alike = [tab for tab, call in enumerate(calls) if call.tool is tool and call.result is None]
    arguments = tool.merge([calls[tab].arguments for tab in alike]) if len(alike) > 1 else None
    if arguments is None:
        return calls
    calls[alike[0]] = replace(calls[alike[0]], arguments=arguments)
    return [call for tab, call in enumerate(calls) if tab not in alike[1:]]


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
            return replace(call, result=CallResult("completed", said, facts=CallFacts(duration_ms=0)))
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
