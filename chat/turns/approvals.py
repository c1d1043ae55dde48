"""Decides about tool calls that wait for their user's approval or answer, and lets their runs go on.

A decision locks the run's row, as does the worker that lets the run wait (llm_worker/attempt). If both happen at the
same moment, exactly one of them queues the run.
"""

import json
from contextlib import suppress
from typing import Annotated, Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from msgspec import UNSET, Meta, UnsetType

from chat.events.session_events import record_session_changed
from chat.models import Approval, McpServer, McpToolList, Run, ToolCall
from chat.models.approval import MAX_NOTE_CHARACTERS, Decision, Kind
from chat.models.tool_call import ToolCallStatus
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, choice, doc
from chat.protocol.body import Body, rule
from chat.protocol.errors import ApiError
from chat.protocol.server_tool_names import is_server_tool
from chat.protocol.states import TERMINAL, Status
from chat.runs.task_queue import enqueue_on_commit
from chat.transcript.questions import AddressQuestion, Question, SignInQuestion, find_problem
from chat.transcript.tool_arguments import first_violation
from chat.turns.current_branch import lock_session

LONGEST_MESSAGE = 300
MAX_ARGUMENTS_CHARACTERS: Final = 100_000
_DECISIONS: Final = {
    (Kind.APPROVAL, True): Decision.APPROVED,
    (Kind.APPROVAL, False): Decision.REFUSED,
    (Kind.QUESTION, True): Decision.ANSWERED,
    (Kind.QUESTION, False): Decision.DECLINED,
    (Kind.ADDRESS, True): Decision.ANSWERED,
    (Kind.ADDRESS, False): Decision.DECLINED,
    (Kind.SIGN_IN, True): Decision.SIGNED_IN,
    (Kind.SIGN_IN, False): Decision.DECLINED,
}
# Those of a user; time or a stop makes the others.
DECISIONS: Final = tuple(dict.fromkeys(_DECISIONS.values()))


def _check_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENTS_CHARACTERS:
        raise ApiError("invalid_value", f"At most {MAX_ARGUMENTS_CHARACTERS} characters.")
    return arguments


# The arguments of a tool. Whether the tool accepts them is checked when the user decides.
_Arguments = Annotated[dict[str, Any], rule(_check_arguments)]


class ApprovalBody(Body):
    approved: Annotated[
        bool,
        doc(
            "Of a question: whether it is answered; false: declined. Of an address: that the user is done there. "
            "Of a sign-in: true asks whether there is one now, which lets the call go on by itself as soon as there is; "
            "false: goes on without."
        ),
    ]
    note: Annotated[
        str, Meta(max_length=MAX_NOTE_CHARACTERS), doc("With a refusal or an answer, the model reads it.")
    ] = ""
    values: (
        Annotated[
            _Arguments,
            doc(
                "The answer to a question, by the names of its form, which it has to fit. "
                f"At most {MAX_ARGUMENTS_CHARACTERS} characters."
            ),
        ]
        | UnsetType
    ) = UNSET
    arguments: (
        Annotated[
            _Arguments,
            doc(
                "Instead of those that the model wants; they have to match the tool's schema. "
                f"At most {MAX_ARGUMENTS_CHARACTERS} characters."
            ),
        ]
        | UnsetType
    ) = UNSET
    remember: (
        Annotated[
            str,
            choice(["session"]),
            doc("Later calls of the tool in this session are not asked about. Not of questions."),
        ]
        | UnsetType
    ) = UNSET


class DecisionAnswer(Answer):
    tool_call: UUID
    decision: Annotated[str, choice(DECISIONS)]


def get_approval(user: User, call: UUID) -> Approval:
    """Return the latest approval that the call waits or waited for, if this user decides about it. Raises ApiError."""
    found = Approval.objects.filter(tool_call=call, owner=user, session__deleted_at=None)
    approval = found.select_related("session").order_by("-requested_at").first()
    if approval is None:
        raise ApiError("tool_call_not_found")
    return approval


def decide(approval: Approval, body: ApprovalBody) -> Approval:
    """Store the owner's decision; the run continues once all of its calls are decided.
    Raises ApiError; then nothing was changed."""
    _check_body(body, approval)
    with transaction.atomic():
        run = _lock_run(approval)
        approval.refresh_from_db()
        if approval.decision or run.status in TERMINAL | {Status.STOPPING}:
            raise ApiError("already_decided")
        approval.decision = _DECISIONS[Kind(approval.kind), body.approved]
        approval.decided_by_id, approval.note = approval.owner_id, body.note
        approval.edited_arguments = None if body.arguments is UNSET else body.arguments
        approval.answer = None if body.values is UNSET else body.values
        approval.is_remembered = body.approved and bool(body.remember)
        approval.store_decision()
        _go_on(run)
    return approval


def present_decision(approval: Approval) -> JSONObject:
    return DecisionAnswer.from_row(approval, tool_call=approval.tool_call_id).json()


def expire(approval: Approval) -> bool:
    """Refuse a call that nobody decided about in time. Returns False if it was decided meanwhile."""
    return _decide_alone(approval, Decision.EXPIRED)


def end_sign_in(approval: Approval) -> bool:
    """Let a call be repeated whose user has signed in to its server. Returns False if it was decided meanwhile."""
    return _decide_alone(approval, Decision.SIGNED_IN)


def end_sign_ins(server: UUID) -> None:
    """Let all calls be repeated that wait for a sign-in to this server and whose user is signed in now."""
    for approval in Approval.objects.signed_in().filter(server=server).select_related("session"):
        with suppress(ApiError):  # the session was deleted meanwhile
            end_sign_in(approval)


def _decide_alone(approval: Approval, decision: Decision) -> bool:
    """Store a decision without a reply of the user, and continue the run. Returns False if it was decided meanwhile."""
    with transaction.atomic():
        run = _lock_run(approval)
        approval.refresh_from_db()
        if approval.decision:
            return False
        is_live = run.status not in TERMINAL | {Status.STOPPING}
        approval.decision = decision if is_live else Decision.STOPPED
        approval.store_decision()
        if is_live:
            _go_on(run)
    return True


def _lock_run(approval: Approval) -> Run:
    """Lock the run and, before it, its session: everywhere sessions are locked before runs."""
    lock_session(approval.session)
    return (
        Run.objects.for_work()
        .select_for_update(no_key=True, of=("self",))
        .get(tool_calls=approval.tool_call_id)
    )


def _go_on(run: Run) -> None:
    """Queue the run if it waits for nothing else. Time spent waiting does not count against its deadline."""
    waiting = ToolCall.objects.filter(run=run, status=ToolCallStatus.WAITING, approval__decision="")
    if run.status == Status.WAITING and not waiting.exists():
        deadline = F("deadline") + (Now() - F("queued_at"))
        Run.objects.filter(pk=run.pk, status=Status.WAITING).requeue("decided", deadline=deadline)
        enqueue_on_commit([run])
    record_session_changed(run.turn.session)


def _check_body(body: ApprovalBody, approval: Approval) -> None:
    if body.approved and is_server_tool(approval.name):
        _check_tool(approval)
    match approval.question:
        case Question() as question:
            _check_answer(body, question)
        case AddressQuestion():
            _check_word(body)
        case SignInQuestion():
            _check_word(body)
            _check_sign_in(body, approval)
        case None:
            _check_approval(body, approval)


def _check_tool(approval: Approval) -> None:
    """Raise ApiError if staff have disabled the tool, or its server, since the call was made."""
    server = McpServer.objects.named_in([approval.name]).without_documents().first()
    if server is None:
        raise ApiError("tool_unavailable")
    own = McpToolList.objects.tools_by_server(approval.owner, [server])
    listed = [*server.tools, *own.get(server.pk, ())]
    if not all(server.enables(tool["tool"]) for tool in listed if tool["name"] == approval.name):
        raise ApiError("tool_unavailable")


def _check_approval(body: ApprovalBody, approval: Approval) -> None:
    if body.values is not UNSET:
        raise ApiError("invalid_value", "The call asks nothing but whether it may run.", field="values")
    if body.arguments is not UNSET:
        error = first_violation(body.arguments, approval.parameters)
        if error is not None:
            raise ApiError("arguments_invalid", error.message[:LONGEST_MESSAGE], field="arguments")


def _check_answer(body: ApprovalBody, question: Question) -> None:
    _refuse_arguments(body)
    if not body.approved:
        if body.values is not UNSET:
            raise ApiError("invalid_value", "A question that is declined has no answer.", field="values")
        return
    if body.values is UNSET:
        raise ApiError("field_required", field="values")
    problem = find_problem(body.values, question.form)
    if problem is not None:
        raise ApiError("answer_invalid", problem.sentence, field=f"values.{problem.name}")


def _check_word(body: ApprovalBody) -> None:
    """Check a reply about an address or a sign-in: it has neither arguments nor values. Raises ApiError."""
    _refuse_arguments(body)
    if body.values is not UNSET:
        raise ApiError("invalid_value", "The call asks for no values.", field="values")


def _check_sign_in(body: ApprovalBody, approval: Approval) -> None:
    if body.approved and not Approval.objects.signed_in().filter(pk=approval.pk).exists():
        raise ApiError("not_signed_in")


def _refuse_arguments(body: ApprovalBody) -> None:
    if body.arguments is not UNSET:
        raise ApiError("invalid_value", "A question has no arguments to edit.", field="arguments")
    if body.remember:
        raise ApiError("invalid_value", "Each question has an answer of its own.", field="remember")
