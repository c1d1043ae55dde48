"""Starts the runs of both of OpenAI's APIs: what the caller tells goes before the answer, in the session or in the run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.log.stream import ENDED_TTL_S
from chat.models import ChatMessage, MessageFile, Role, Run, Session, ToolCall, ToolCallImage, Turn
from chat.models.tool_call import NO_OUTPUT, ToolCallStatus
from chat.protocol.errors import ApiError
from chat.sessions.deletion import delete_for_good
from chat.sessions.forking import renewed
from chat.sessions.portable import format as f
from chat.sessions.portable.importer import store_session
from chat.sessions.settings import create_session
from chat.transcript.waits import CallerTools
from chat.turns.files import attach, load_readable
from chat.turns.insert import StartedTurn
from chat.turns.regeneration import RegenerationBody, regenerate_turn
from chat.turns.request import MAX_FILES, TurnBody
from chat.turns.start import start_turn
from features.openai.conversation import MAX_TOLD_CHARACTERS, Exchange, rows_of
from features.openai.models import ResponseRequest
from features.openai.offered_models import NO_MODEL, next_model
from features.openai.response_parts import NO_RESPONSE, load_run


def open_session(
    user: User, history: Sequence[Exchange], *, model: str, is_stored: bool = True, **fields: Any
) -> Session:
    """Open a session that begins with what the caller tells. One that is not stored is in no list, and deleted once its
    answer's log has expired.  fields: of the session, as its agent.  Raises ApiError."""
    fields["temporary_until"] = None if is_stored else timezone.now() + timedelta(seconds=ENDED_TTL_S)
    if not history:
        return create_session(user, **fields)
    if sum(len(exchange.files) for exchange in history) > MAX_FILES:
        raise ApiError(
            "invalid_value", f"Name up to {MAX_FILES} files before the last message.", field="files"
        )
    messages = list(_told_messages(history, model[:200], timezone.now()))
    with transaction.atomic():
        session = store_session(user, f.Portable(f.NAME, f.VERSION, messages), {}, fields=fields)
        questions = session.messages.filter(role=Role.USER).order_by("sent_at")
        turns = dict(session.turns.values_list("user_message", "pk"))
        for question, exchange in zip(questions, history, strict=True):
            if exchange.rounds:
                Turn.objects.set_caller_tools(turns[question.pk], None, len(exchange.rounds))
            if exchange.files:
                attach(question, load_readable(session, exchange.files), ())
    return session


def _told_messages(history: Sequence[Exchange], model: str, now: datetime) -> Iterator[f.Message]:
    """Yield the messages of a tree with one branch; its answers count as imported. The last question may have none."""
    yield f.Message(0, "root", now, latest_child=1)
    for place, exchange in enumerate(history):
        number = 2 * place + 1
        asked_at = now + timedelta(microseconds=number - 2 * len(history))
        answered_at = asked_at + timedelta(microseconds=1)
        answer = None if exchange.is_asked else number + 1
        yield f.Message(number, "user", asked_at, number - 1, exchange.question, latest_child=answer)
        if answer is None:
            return
        yield f.Message(
            number + 1,
            "assistant",
            answered_at,
            number,
            exchange.text,
            latest_child=number + 2 if place + 1 < len(history) else None,
            run=f.Run(model, answered_at, answered_at),
            tool_calls=[_told_call(row) for row in rows_of(exchange.rounds)],
        )


def _told_call(row: ToolCall) -> f.Call:
    names = ("tool_call_id", "name", "turn_number", "tab_index", "arguments", "response", "text_before")
    return f.Call(**{name: getattr(row, name) for name in names})


def start_run(
    session: Session,
    turn_body: TurnBody,
    exchange: Exchange,
    tools: CallerTools,
    *,
    is_new: bool,
) -> Run:
    """Start a turn that one model answers, after the rounds of the exchange. Raises ApiError.

    is_new: the session was opened for it, and is deleted if that fails.
    """
    run, agent = None, session.agent_id
    try:
        turn_body.models = turn_body.models or [next_model(session)]
        with transaction.atomic():
            started = start_turn(session, turn_body, MAX_TOLD_CHARACTERS)
            if is_new and session.agent_id != agent:
                raise ApiError("not_found", NO_MODEL, field="models")
            run = _begin(started, rows_of(exchange.rounds), [], tools)
    finally:
        if run is None and is_new:
            # The files of its messages are not deleted with it: some were uploaded before.
            MessageFile.objects.filter(message__session=session).delete()
            delete_for_good(session)
    return run


def answer_calls(
    previous: Run,
    outputs: Mapping[str, str],
    request: RegenerationBody,
    tools: CallerTools,
    instructions: str,
) -> Run:
    """Start another answer to the question of a run that has handed calls over. It begins with that run's rounds.

    outputs: of all these calls, by id.  Raises ApiError.
    """
    rows = list(ToolCall.objects.filter(run=previous))
    _check_outputs(previous, rows, outputs)
    with transaction.atomic():
        started = regenerate_turn(previous.turn.user_message, request, instructions)
        return _begin(started, *_copy_rounds(previous, rows, outputs), tools)


def note_outputs(previous: Run, outputs: Mapping[str, str]) -> None:
    """Note the outputs of the calls that a run has handed over, before a question that follows. Raises ApiError.

    Called with the session's lock.
    """
    _check_outputs(previous, ToolCall.objects.filter(run=previous), outputs)
    if not ToolCall.objects.note_outputs(previous, outputs):
        raise ApiError("invalid_value", "A question has followed other outputs of these calls.", field="text")


def _check_outputs(previous: Run, rows: Iterable[ToolCall], outputs: Mapping[str, str]) -> None:
    if previous.is_live:
        raise ApiError("parent_in_progress", field="parent")
    if {row.tool_call_id for row in rows if row.status == ToolCallStatus.PENDING} != set(outputs):
        raise ApiError("invalid_value", "Send the output of each open call of the response.", field="text")


def answer_again(
    question: ChatMessage, request: RegenerationBody, tools: CallerTools, instructions: str
) -> Run:
    """Start another answer to a question. Raises ApiError."""
    with transaction.atomic():
        return _begin(regenerate_turn(question, request, instructions), [], [], tools)


def _copy_rounds(
    previous: Run, rows: list[ToolCall], outputs: Mapping[str, str]
) -> tuple[list[ToolCall], list[ToolCallImage]]:
    """Make of the calls of an answer those of another one, with outputs; and their images, which share the files.

    What the answer said after its calls is said before the last round.
    """
    images = list(ToolCallImage.objects.filter(tool_call__in=[row.pk for row in rows]))
    ids = {row.pk: uuid4() for row in rows}
    texts = {row.turn_number: row.text_before for row in rows if row.message_id}
    rest = previous.message.text[sum(map(len, texts.values())) :]
    for row in rows:
        if row.status == ToolCallStatus.PENDING:
            row.status, row.response = ToolCallStatus.COMPLETED, outputs[row.tool_call_id] or NO_OUTPUT
        if row.message_id and row.turn_number == max(texts):
            row.text_before += rest
        parent = row.parent_tool_call_id
        renewed(row, id=ids[row.pk], parent_tool_call_id=parent and ids[parent])
    return rows, [renewed(image, pk=None, tool_call_id=ids[image.tool_call_id]) for image in images]


def _begin(
    started: StartedTurn, rows: Sequence[ToolCall], images: Sequence[ToolCallImage], tools: CallerTools
) -> Run:
    [run] = started.runs
    config = run.model_config
    if tools.functions and not (config and config.supports_tools):
        raise ApiError("option_unsupported", f"{run.model} calls no functions.", field="tools")
    if rows or tools.functions:
        count = ToolCall.objects.store_rounds(run, rows, images) if rows else 0
        Turn.objects.set_caller_tools(run.turn_id, tools.as_json, count)
    return run


def store_request(run: Run, **members: Any) -> Run:
    """Store what the turn of the request does not say, and load the run. Raises ApiError if that is gone."""
    try:
        ResponseRequest.objects.create(run=run, **members)
    except IntegrityError:
        raise ApiError("not_found", NO_RESPONSE) from None
    return load_run(run)
