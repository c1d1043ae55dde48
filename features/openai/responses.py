"""Responses of OpenAI's API: each is a run in a listed session of its owner, and their ids are made of each other's."""

import re
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from msgspec import UNSET, json, structs

from chat.loaders.rounds import load_rounds
from chat.log.rebuilt import rebuild_packets, rebuild_rounds
from chat.models import Agent, ChatMessage, MessageFile, Role, Run, Session
from chat.protocol import wire as p
from chat.protocol.answer import Answer, choice, doc
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.sessions.deletion import delete_session
from chat.sessions.settings import edit_session
from chat.transcript.answer_settings import present_options
from chat.transcript.finish import FILTERED
from chat.transcript.waits import ANY, CallerTools
from chat.turns.current_branch import lock_session
from chat.turns.deletion import delete_message
from chat.turns.request import TurnBody
from features.openai.approvals import answer_approvals
from features.openai.authentication import Caller
from features.openai.conversation import MAX_TOLD_CHARACTERS, ToldInput
from features.openai.errors import ObjectName, inside
from features.openai.files import stored_files
from features.openai.models import RequestMembers, ResponseRequest
from features.openai.offered_models import NO_MODEL, find_model, unnamed_model
from features.openai.response_body import MAX_ITEMS, OpenAIResponseBody, named_as_sent
from features.openai.response_events import First, ResponseEnd, ResponseEvents
from features.openai.response_parts import NO_RESPONSE, RESPONSE_ID, ResponsePart, end_status
from features.openai.response_stream import EncodedEvent, ResponseStream, failed_end
from features.openai.turns import (
    answer_calls,
    note_outputs,
    open_session,
    start_run,
    store_request,
)
from web.rest.request_slots import EXPENSIVE
from web.rest.uploads import MAX_BODY_BYTES

_CONVERSATION: Final = re.compile(r"conv_([0-9a-f]{32})")
_ITEM: Final = re.compile(r"(?:msg|rs|fc|mcp|mcpr)_([0-9a-f]{32}(?:[0-9a-f]{2})?)[0-9a-f]{4}")
# Of responses whose items one request refers to.
MAX_REFERENCES: Final = 256
# Of runs that are live, or that their user has stopped.
_STATUSES: Final = {Status.QUEUED: "queued", Status.STOPPING: "cancelled"}
_WAITS: Final = "The response waits for approvals. Answer its requests first."


class OpenAIResponseAnswer(Answer, kw_only=True):
    id: str
    object: ObjectName
    status: Annotated[
        str, choice(["queued", "in_progress", "completed", "incomplete", "cancelled", "failed"])
    ]
    created_at: Annotated[int, doc("Seconds since 1970.")]
    error: dict[str, Any] | None = None
    incomplete_details: dict[str, Any] | None = None
    instructions: str | None
    metadata: dict[str, str]
    model: str
    output: list[dict[str, Any]]
    parallel_tool_calls: bool
    temperature: float
    top_p: float
    max_output_tokens: int | None
    previous_response_id: str | None
    conversation: dict[str, str]
    reasoning: dict[str, Any]
    text: dict[str, Any]
    background: bool
    store: bool
    tool_choice: Any = "auto"
    tools: list[dict[str, Any]] = []
    truncation: Annotated[str, choice(["disabled"])] = "disabled"
    usage: dict[str, Any] | None = None


def with_items(caller: Caller, sent: Any) -> Any:
    """Return the body of a request with the items of earlier responses that its input refers to. Raises ApiError."""
    items = sent.get("input") if isinstance(sent, dict) else None
    if not isinstance(items, list) or not any(map(_is_reference, items)):
        return sent
    references = _References(caller)
    named = []
    with EXPENSIVE.take(caller.user.pk), inside("input"):
        for place, item in enumerate(items[: MAX_ITEMS + 1]):
            with inside(place):
                named.append(references.find(item.get("id")) if _is_reference(item) else item)
    return {**sent, "input": named}


def _is_reference(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "item_reference"


class _References:
    """The items that a request refers to. They are as long together as a request may be."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._outputs: dict[str, dict[str, Any]] = {}  # of responses that were read, by the ids of both
        self._bytes_left = MAX_BODY_BYTES

    def find(self, name: Any) -> Any:
        """Return the item. Raises ApiError."""
        parsed = _ITEM.fullmatch(name) if isinstance(name, str) else None
        if parsed:
            response = f"resp_{parsed[1]}"
            if response not in self._outputs and len(self._outputs) < MAX_REFERENCES:
                output = present_response(find_response(self._caller, response, field="id"))["output"]
                # Of others, nothing is sent to the model.
                self._outputs[response] = {
                    item["id"]: item
                    if item["type"] in ("message", "function_call")
                    else {"type": "reasoning"}
                    for item in output
                }
            if item := self._outputs.get(response, {}).get(name):
                self._bytes_left -= len(json.encode(item))
                if self._bytes_left < 0:
                    raise ApiError("body_too_large", field="id")
                return item
        raise ApiError("not_found", "There is no such item.", field="id")


def start_response(caller: Caller, body: OpenAIResponseBody) -> ResponsePart:
    """Start the turn that the request asks for, or let one go on that waits. Raises ApiError; then nothing is stored."""
    named = find_model(caller, body.model) if body.model else unnamed_model(caller)
    agent = named if isinstance(named, Agent) else None
    models = [] if named is None or agent else [named.name]
    members = RequestMembers(body.model or "", body.metadata or {}, bool(body.background))
    previous = answered = None
    with named_as_sent():
        if body.approvals or body.outputs:
            previous = _find_previous(caller, body)
            _check_agent(previous.run.turn.session, agent)
        if body.approvals and previous:
            _check_answerable(previous, models if body.model else [])
            return answer_approvals(previous, body.approvals, members)
        if previous:
            _check_continuable(previous)
        if previous and not body.asks:
            continuation = body.continuation(models or [previous.run.model])
            run = answer_calls(previous.run, body.outputs, *continuation)
            answered = previous.run.pk
        else:
            run = _ask(caller, body, agent, models, previous)
    stored = store_request(run, **members._asdict(), previous=answered)
    return ResponsePart.load(stored)


def _ask(
    caller: Caller,
    body: OpenAIResponseBody,
    agent: Agent | None,
    models: list[str],
    previous: ResponsePart | None,
) -> Run:
    """Start the turn of a question. previous: what has made the calls whose outputs are told before it. Raises ApiError."""
    *history, question = body.exchanges
    tools = body.caller_tools
    turn_body = body.turn_body(models)
    turn_body.check(MAX_TOLD_CHARACTERS)
    session = _find_session(caller, body, turn_body)
    if session is not None and (history or question.rounds):
        raise ApiError("invalid_value", "A conversation that is stored is not told again.", field="text")
    with stored_files(caller, body.exchanges, body.inline_files):
        if session is None:
            opened = open_session(
                caller.user, history, model=body.model or "", is_stored=body.store is not False, agent=agent
            )
            return start_run(opened, turn_body, question, tools, is_new=True)
        with transaction.atomic():
            session = _with_agent(session, agent)
            if turn_body.parent is UNSET:
                _join_open_question(session, turn_body)
            if previous:
                lock_session(session)
                note_outputs(previous.run, body.outputs)
            return start_run(session, turn_body, question, tools, is_new=False)


def _with_agent(session: Session, agent: Agent | None) -> Session:
    """Return the session, which gets the agent of its first response. Raises ApiError."""
    if agent and session.agent_id is None:
        if not agent.hold():  # before the session is locked, as edit_session() does
            raise ApiError("not_found", NO_MODEL, field="models")
        is_new = lock_session(session).agent_id is None
        if is_new and not Run.objects.filter(turn__session=session, is_imported=False).exists():
            edit_session(session, {"agent": agent})
        session = lock_session(session)
    _check_agent(session, agent)
    return session


def _check_agent(session: Session, agent: Agent | None) -> None:
    if agent and session.agent_id != agent.pk:
        raise ApiError("invalid_value", "The conversation has another agent.", field="models")


def _check_continuable(part: ResponsePart) -> None:
    """Raise ApiError if the response waits, or its answer has gone on: what follows an answer follows all of it."""
    if part.is_waiting:
        raise ApiError("parent_in_progress", _WAITS, field="parent")
    if part.end:
        message = f"The answer has gone on. Continue {ResponsePart.load_last(part.run).id}."
        raise ApiError("invalid_value", message, field="parent")


def _check_answerable(part: ResponsePart, models: list[str]) -> None:
    """Raise ApiError if the response is in progress, or its answer is to go on with another model."""
    if part.is_live:
        raise ApiError("parent_in_progress", field="parent")
    if models not in ([], [part.run.model]):
        message = "The answer goes on with the model that has begun it."
        raise ApiError("invalid_value", message, field="models")


def _find_previous(caller: Caller, body: OpenAIResponseBody) -> ResponsePart:
    """Return the response that has made the calls, or asks for the approvals, that the request answers."""
    if body.conversation:
        leaf = caller.stored_sessions().filter(pk__in=_sessions(body.conversation)).values("leaf")
        if run := caller.stored_runs().filter(message__in=leaf).first():
            return ResponsePart.load_last(run)
        raise ApiError("not_found", "There is no such conversation.", field="conversation")
    name = body.previous_response_id or _response_of(body)
    if not name:
        message = "What is answered is of previous_response_id, or of earlier items."
        raise ApiError("invalid_value", message, field="text")
    return (find_answerable if body.approvals else find_response)(caller, name, field="parent")


def _response_of(body: OpenAIResponseBody) -> str:
    """Return the id of the response whose requests are told with the approvals; empty if they are not told."""
    parsed: ToldInput = body.input
    named = [_ITEM.fullmatch(name) for name in parsed.approvals if parsed.are_requests_told]
    return f"resp_{named[0][1]}" if named and named[0] else ""


def find_response(caller: Caller, name: str, field: str | None = None) -> ResponsePart:
    """Return the caller's response of this id. Raises ApiError."""
    return _find_among(caller.stored_runs(), name, field)


def find_answerable(caller: Caller, name: str, field: str | None = None) -> ResponsePart:
    """Return the caller's response of this id, also one that is not stored until it has ended. Raises ApiError."""
    return _find_among(caller.answerable_runs(), name, field)


def _find_among(runs: QuerySet[Run], name: str, field: str | None) -> ResponsePart:
    parsed = RESPONSE_ID.fullmatch(name)
    run = runs.filter(pk=UUID(parsed[1])).first() if parsed else None
    part = ResponsePart.load(run, int(parsed[2] or "0", 16)) if run and parsed else None
    if part is None or part.id != name or not part.exists:
        raise ApiError("not_found", NO_RESPONSE, field=field)
    return part


def cancel_response(part: ResponsePart) -> None:
    """Stop the run, unless it has gone on behind this part."""
    if part.is_live or part.is_waiting:
        stop_run(part.run.pk)


def delete_response(part: ResponsePart) -> None:
    """Delete the answer, all parts of it, with what continues it, and its session if nothing else is in it, into the trash.
    Raises ApiError."""
    run, question = part.run, part.run.turn.user_message
    is_first = ChatMessage.objects.filter(children=question, role=Role.ROOT).exists()
    if is_first and question.siblings().count() == run.message.siblings().count() == 1:
        delete_session(run.turn.session)
    else:
        delete_message(run.message)


def _find_session(caller: Caller, body: OpenAIResponseBody, turn_body: TurnBody) -> Session | None:
    """Return the session of the response or conversation that the request names, and make the turn reply to it."""
    if body.previous_response_id:
        previous = find_response(caller, body.previous_response_id, field="parent")
        _check_continuable(previous)
        turn_body.parent = previous.run.message_id
        session = caller.stored_sessions().filter(pk=previous.run.turn.session_id).first()
        field = "parent"
    elif body.conversation:
        session, field = find_session(caller, body.conversation), "conversation"
    else:
        return None
    if session is None:
        raise ApiError("not_found", "There is no such conversation.", field=field)
    return session


def _join_open_question(session: Session, turn_body: TurnBody) -> None:
    """Make the turn ask what its conversation ends with too, where that has no answer: both are one question."""
    if ChatMessage.objects.tip_of(session).role != Role.USER:
        return
    # Another request may have asked it: this one is then about the answer.
    tip = ChatMessage.objects.tip_of(lock_session(session))
    if tip.role == Role.USER:
        turn_body.parent = tip.parent_id
        turn_body.text = "\n\n".join(filter(None, (tip.text, turn_body.text)))
        files = MessageFile.objects.chosen().filter(message=tip).values_list("file", flat=True)
        turn_body.files = list(dict.fromkeys((*files, *(turn_body.files or ()))))


def find_session(caller: Caller, conversation: str) -> Session | None:
    """Return the caller's stored session of this id of a conversation; None if there is none."""
    return caller.stored_sessions().filter(pk__in=_sessions(conversation)).first()


def conversation_id(session: UUID) -> str:
    return f"conv_{session.hex}"


def _sessions(conversation: str) -> list[UUID]:
    """Return the id that the name of a conversation is made of; none if it is not made so."""
    parsed = _CONVERSATION.fullmatch(conversation)
    return [UUID(parsed[1])] if parsed else []


# Presentation


def open_stream(part: ResponsePart) -> ResponseStream:
    run = part.run
    first = First(first_block(run), run.turn.given_rounds)
    begin = partial(ResponseEvents, run.pk, describe(part), caller_functions(run), first, part.number)
    return ResponseStream(begin, part.waits)


def caller_functions(run: Run) -> frozenset[str]:
    """Return the names of the caller's functions."""
    return frozenset(function.name for function in CallerTools.from_json(run.turn.caller_tools).functions)


def first_block(run: Run) -> int:
    """Return the turn_index behind the rounds that the caller gave, which are no output."""
    rounds = load_rounds(run.pk)[: run.turn.given_rounds] if run.turn.given_rounds else ()
    return sum(1 + bool(each.reasoning) + bool(each.text_before) for each in rounds)


def replay(part: ResponsePart) -> Iterator[EncodedEvent]:
    """Yield all events of a response that has ended: those that were streamed."""
    stream = open_stream(part)
    yield from stream.begin()
    lines = rebuild_rounds(part.run, part.end.round + 1) if part.end else rebuild_packets(part.run)
    for line in lines:
        yield from stream.feed(p.decode_log_entry(line))
    if not part.end:
        yield from stream.end(describe_end(part), lambda: iter(()))


def present_response(part: ResponsePart) -> dict[str, Any]:
    """Return the response as it is now; the output of one in progress is in its stream."""
    if part.is_live:
        return {**describe(part), "status": _STATUSES.get(Status(part.run.status), "in_progress")}
    [last] = deque(replay(part), maxlen=1)
    return final_response(last)


def final_response(last: EncodedEvent) -> dict[str, Any]:
    """Return the response that the last event of a stream has."""
    response: dict[str, Any] = last.members.get("response", {})
    return response


def describe(part: ResponsePart) -> dict[str, Any]:
    """Return the members of a response that do not change."""
    run = part.run
    row = ResponseRequest.objects.filter(pk=run.pk).first()
    request = row.members_of(part.number) if row else RequestMembers()
    options = present_options(run.options)
    tools = CallerTools.from_json(run.turn.caller_tools)
    return OpenAIResponseAnswer(
        id=part.id,
        object="response",
        status="in_progress",
        created_at=int(run.created_at.timestamp()),
        instructions=run.turn.additional_context or None,
        metadata=request.metadata,
        model=request.model or run.model,
        output=[],
        parallel_tool_calls=options.get("parallel_tool_calls", True),
        temperature=options.get("temperature", 1.0),
        top_p=options.get("top_p", 1.0),
        max_output_tokens=options.get("max_output_tokens"),
        previous_response_id=_previous_id(part, row.previous if row else None),
        conversation={"id": conversation_id(run.turn.session_id)},
        reasoning={"effort": options.get("reasoning_effort"), "summary": None},
        text={"format": text_format(options)},
        background=request.is_background,
        store=not run.turn.session.is_temporary,
        tools=[{"type": "function", **structs.asdict(function)} for function in tools.functions],
        tool_choice=_tool_choice(tools),
    ).json()


def describe_end(part: ResponsePart) -> ResponseEnd:
    """Return how the last response of a run that has ended did. Its usage is that of the whole run."""
    run = part.run
    status, usage = end_status(run), {"usage": _usage(run)}
    if status == "incomplete":
        reason = "content_filter" if run.visible_finish.reason == FILTERED else "max_output_tokens"
        return ResponseEnd(status, {"incomplete_details": {"reason": reason}, **usage})
    if status == "failed":
        metadata = ResponseRequest.objects.read(run, part.number).metadata
        failed = failed_end(run.error_code, run.error_message, metadata)
        return failed._replace(members={**failed.members, **usage})
    return ResponseEnd(status, usage)


def _previous_id(part: ResponsePart, asked_of: UUID | None) -> str | None:
    """Return the id of the response that a part continues. asked_of: the run whose calls it has the outputs of."""
    if part.number:
        return part.before.id
    before = Run.objects.for_work()
    if asked_of:
        previous = before.filter(pk=asked_of).first()
        return ResponsePart.load_last(previous).id if previous else f"resp_{asked_of.hex}"
    above = before.filter(message__children=part.run.turn.user_message).first()
    return ResponsePart.load_last(above).id if above else None


def _tool_choice(tools: CallerTools) -> Any:
    if tools.required in ("", ANY):
        return "required" if tools.required else "auto"
    return {"type": "function", "name": tools.required}


def text_format(options: dict[str, Any]) -> dict[str, Any]:
    form = options.get("response_format", {"type": "text"})
    return {"type": form["type"], **form.get("json_schema", {})}


def _usage(run: Run) -> dict[str, Any] | None:
    if run.prompt_tokens is None and run.completion_tokens is None:
        return None
    read, written = run.prompt_tokens or 0, run.completion_tokens or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": run.cached_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": run.reasoning_tokens or 0},
        "total_tokens": read + written,
    }
