"""Responses of OpenAI's API: each is a run in a listed session of its owner, and their ids are made of each other's."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from chat.log.rebuilt import rebuild_packets
from chat.log.stream import ENDED_TTL_S
from chat.models import Agent, ChatMessage, MessageFile, Role, Run, Session, run_of
from chat.protocol import wire as p
from chat.protocol.answer import Answer
from chat.protocol.errors import ApiError
from chat.protocol.member_types import choice, doc
from chat.protocol.states import Status
from chat.sessions.creation import create_session
from chat.sessions.deletion import delete_empty, delete_session
from chat.transcript.finish import FILTERED
from chat.transcript.run_options import present_options
from chat.turns.deletion import delete_message
from chat.turns.request import TurnBody
from chat.turns.start import start_turn
from features.openai.errors import ObjectName
from features.openai.models import ResponseRequest
from features.openai.offered_models import find_model, next_model
from features.openai.response_body import OpenAIResponseBody, named_as_sent
from features.openai.response_events import ResponseEnd, ResponseEvents
from features.openai.response_stream import EncodedEvent, ResponseStream, failed_end
from knowledge.models import FileKind

_ID: Final = re.compile(r"(resp|conv)_([0-9a-f]{32})")
_NO_RESPONSE: Final = "There is no such response."
# Of runs that are live, or that their user has stopped.
_STATUSES: Final = {Status.QUEUED: "queued", Status.STOPPING: "cancelled"}
# The end of a run whose model used its output up before the answer began.
_NOTHING_BEFORE_THE_LIMIT: Final = "output_limit_reached"


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
    tool_choice: Annotated[str, choice(["auto"])] = "auto"
    tools: list[dict[str, Any]] = []
    truncation: Annotated[str, choice(["disabled"])] = "disabled"
    usage: dict[str, Any] | None = None


def start_response(user: User, body: OpenAIResponseBody) -> Run:
    """Start the turn that the request asks for. Raises ApiError; then nothing is stored."""
    named = find_model(user, body.model) if body.model else None
    agent = named if isinstance(named, Agent) else None
    with named_as_sent():
        turn_body = body.turn_body([] if named is None or agent else [named.name])
        turn_body.check()
        session = _find_session(user, body, turn_body) or create_session(
            user, **session_fields(agent, is_stored=body.store is not False)
        )
        if agent and session.agent_id != agent.pk:
            raise ApiError("invalid_value", "The conversation has another agent.", field="models")
        is_new = not (body.previous_response_id or body.conversation)
        run = start_run(session, turn_body, delete_empty if is_new else None)
    return store_request(
        run, model=body.model or "", metadata=body.metadata or {}, is_background=bool(body.background)
    )


def start_run(session: Session, turn_body: TurnBody, discard: Callable[[Session], object] | None) -> Run:
    """Start a turn that one model answers. discard: called with a new session if that fails."""
    run = None
    try:
        turn_body.models = turn_body.models or [next_model(session)]
        [run] = start_turn(session, turn_body).runs
    finally:
        if run is None and discard:
            discard(session)
    return run


def store_request(run: Run, **members: Any) -> Run:
    """Store what the turn of the request does not say, and load the run. Raises ApiError if that is gone."""
    try:
        ResponseRequest.objects.create(run=run, **members)
    except IntegrityError:
        raise ApiError("not_found", _NO_RESPONSE) from None
    return load_run(run)


def load_run(run: Run) -> Run:
    """Load the run as it is now. Raises ApiError."""
    loaded = Run.objects.for_work().filter(pk=run.pk).first()
    if loaded is None:
        raise ApiError("not_found", _NO_RESPONSE)
    return loaded


def session_fields(agent: Agent | None, *, is_stored: bool) -> dict[str, Any]:
    """Return the fields of a new session. One that is not stored is in no list, and deleted once its answer's log has expired."""
    until = None if is_stored else timezone.now() + timedelta(seconds=ENDED_TTL_S)
    return {"agent": agent, "temporary_until": until}


def find_response(user: User, name: str, field: str | None = None) -> Run:
    """Return the user's run of this response. Raises ApiError."""
    stored = Run.objects.visible_to(user).filter(turn__session__temporary_until=None).for_work()
    run = stored.filter(pk__in=_ids("resp", name)).first()
    if run is None:
        raise ApiError("not_found", _NO_RESPONSE, field=field)
    return run


def delete_response(run: Run) -> None:
    """Delete the answer with what continues it, and its session if nothing else is in it, into the trash. Raises ApiError."""
    question = run.turn.user_message
    is_first = ChatMessage.objects.filter(children=question, role=Role.ROOT).exists()
    if is_first and question.siblings().count() == run.message.siblings().count() == 1:
        delete_session(run.turn.session)
    else:
        delete_message(run.message)


def _find_session(user: User, body: OpenAIResponseBody, turn_body: TurnBody) -> Session | None:
    """Return the session of the response or conversation that the request names, and make the turn reply to it."""
    stored = Session.objects.visible_to(user).filter(temporary_until=None)
    if body.previous_response_id:
        previous = find_response(user, body.previous_response_id, field="parent")
        turn_body.parent = previous.message_id
        ids, field = [previous.turn.session_id], "parent"
    elif body.conversation:
        ids, field = _ids("conv", body.conversation), "conversation"
    else:
        return None
    session = stored.filter(pk__in=ids).first()
    if session is None:
        raise ApiError("not_found", "There is no such conversation.", field=field)
    return session


def _ids(prefix: str, name: str) -> list[UUID]:
    """Return the id that the name is made of; none if it is not made so."""
    parsed = _ID.fullmatch(name)
    return [UUID(parsed[2])] if parsed and parsed[1] == prefix else []


# Presentation


def open_stream(run: Run) -> ResponseStream:
    return ResponseStream(partial(ResponseEvents, run.pk, describe(run)))


def replay(run: Run) -> Iterator[EncodedEvent]:
    """Yield all events of a run that has ended: those that were streamed."""
    stream = open_stream(run)
    yield from stream.begin()
    for line in rebuild_packets(run):
        yield from stream.feed(p.decode_log_entry(line))
    yield from stream.end(describe_end(run))


def present_response(run: Run) -> dict[str, Any]:
    """Return the response as it is now; the output of one in progress is in its stream."""
    if run.is_live:
        return {**describe(run), "status": _STATUSES.get(Status(run.status), "in_progress")}
    [last] = deque(replay(run), maxlen=1)
    return final_response(last)


def final_response(last: EncodedEvent) -> dict[str, Any]:
    """Return the response that the last event of a stream has."""
    response: dict[str, Any] = last.members.get("response", {})
    return response


def describe(run: Run) -> dict[str, Any]:
    """Return the members of a response that do not change."""
    request = ResponseRequest.objects.filter(pk=run.pk).first() or ResponseRequest(run=run)
    options = present_options(run.options)
    return OpenAIResponseAnswer(
        id=f"resp_{run.pk.hex}",
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
        previous_response_id=_previous_id(run),
        conversation={"id": f"conv_{run.turn.session_id.hex}"},
        reasoning={"effort": options.get("reasoning_effort"), "summary": None},
        text={"format": _text_format(options)},
        background=request.is_background,
        store=not run.turn.session.is_temporary,
    ).json()


def describe_end(run: Run) -> ResponseEnd:
    """Return how the response of a run that has ended did."""
    metadata = ResponseRequest.objects.filter(pk=run.pk).values_list("metadata", flat=True).first() or {}
    usage = {"usage": _usage(run)}
    finish = run.visible_finish
    if run.status == Status.STOPPED:
        return ResponseEnd("cancelled", usage)
    if finish.is_cut or run.error_code == _NOTHING_BEFORE_THE_LIMIT:
        reason = "content_filter" if finish.reason == FILTERED else "max_output_tokens"
        return ResponseEnd("incomplete", {"incomplete_details": {"reason": reason}, **usage})
    if run.error_code:
        failed = failed_end(run.error_code, run.error_message, metadata)
        return failed._replace(members={**failed.members, **usage})
    return ResponseEnd("completed", usage)


def _previous_id(run: Run) -> str | None:
    parent = ChatMessage.objects.select_related("run").filter(children=run.turn.user_message).first()
    previous = run_of(parent) if parent else None
    return f"resp_{previous.pk.hex}" if previous else None


def _text_format(options: dict[str, Any]) -> dict[str, Any]:
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


def present_input(run: Run) -> dict[str, Any]:
    """Return the list of the input of a response: its question."""
    question = run.turn.user_message
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": question.text}]
    for row in MessageFile.objects.chosen().filter(message=question):
        file_id = str(row.file_id)
        if row.file.kind == FileKind.IMAGE:
            parts.append({"type": "input_image", "detail": "auto", "file_id": file_id})
        else:
            parts.append({"type": "input_file", "file_id": file_id, "filename": row.file.name})
    name = f"msg_{question.pk.hex}"
    item = {"id": name, "type": "message", "role": "user", "status": "completed", "content": parts}
    return {"object": "list", "data": [item], "first_id": name, "last_id": name, "has_more": False}
