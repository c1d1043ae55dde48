"""Threads of AG-UI: each is a chat of its caller. A run input asks, answers interrupts, or joins a run that it names."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from msgspec import UNSET, UnsetType

from chat.models import Agent, Approval, ChatMessage, MessageFile, Role, Run, ToolCall
from chat.protocol.body import parse_id
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE
from chat.turns.approvals import ApprovalBody, decide, get_approval
from chat.turns.current_branch import lock_session
from chat.turns.regeneration import RegenerationBody
from chat.turns.request import MAX_CLIENT_MESSAGE_ID_CHARACTERS, TurnBody
from features.agui.interrupts import DECISION_FIELDS, parse_decision
from features.agui.models import AgUiRun
from features.agui.run_input import (
    AgUiResumeBody,
    AgUiRunBody,
    Around,
    asks,
    find_last,
    read_messages,
    run_of_id,
    runs_of,
    split_around,
)
from features.openai.authentication import Caller
from features.openai.conversation import MAX_TOLD_CHARACTERS, Exchange, ToldInput
from features.openai.errors import inside
from features.openai.files import stored_files
from features.openai.offered_models import NO_MODEL, find_model, next_model, unnamed_model
from features.openai.response_body import named_as_sent
from features.openai.response_parts import load_run
from features.openai.turns import answer_again, answer_calls, open_session, start_run
from knowledge.models import FileKind

# Of the ids of chats that frontends name by ids of their own.
_NAMESPACE: Final = UUID("6a2a7a1c-53ff-4b5e-9d5f-3d5d5a3f3c11")
# Of the messages of a request, which are in memory as long as its answer: a snapshot has them again.
MAX_RESTATED_BYTES: Final = 256 * 1024
# Of the messages of a chat that a frontend gets which has none.
MAX_BRANCH: Final = 400
# Members of a turn -> what the client called them.
_FIELDS: Final = {
    **dict.fromkeys(("text", "files", "file", "instructions", "parent"), "messages"),
    "models": "model",
}


class Joined(NamedTuple):
    """The run that a request is for.

    is_new: its answer begins with this request.  around: the messages of the frontend; None: those of the chat are sent
    instead.
    """

    run: Run
    thread: str
    name: str
    is_new: bool
    around: Around | None


def join_run(caller: Caller, body: AgUiRunBody, model: str | None) -> Joined:
    """Start what the request asks for, or find it again. model: of the turn, or an agent. Raises ApiError."""
    try:
        run, is_new = _find_or_start(caller, body, model)
    except (IntegrityError, ApiError) as error:
        if isinstance(error, ApiError) and error.code != "idempotency_mismatch":
            raise
        # The same request, or the first one of the same thread, was stored meanwhile.
        try:
            run, is_new = _find_or_start(caller, body, model)
        except IntegrityError:
            raise ApiError(
                "not_found", "The thread was deleted, or is another agent's.", field="threadId"
            ) from None
    return Joined(
        load_run(run),
        body.thread_id,
        body.run_id,
        is_new,
        split_around(body.messages, run.pk, MAX_RESTATED_BYTES),
    )


def _find_or_start(caller: Caller, body: AgUiRunBody, model: str | None) -> tuple[Run, bool]:
    """Return the run, and whether it was started."""
    thread = _Thread(caller, body)
    with transaction.atomic():
        if resumed := thread.resume():
            return resumed, False
    if named := thread.find_named():
        return named, False
    return thread.start(model)


class _News(NamedTuple):
    """What is new to a thread, and what is before it: a run's answer, or a question without one. parent: of a question."""

    parsed: ToldInput
    previous: Run | None = None
    question: ChatMessage | None = None
    parent: UUID | UnsetType | None = UNSET


class _Thread:
    """The chat that a request is for, and where its messages are new to it."""

    def __init__(self, caller: Caller, body: AgUiRunBody) -> None:
        self._caller, self._body = caller, body
        self._own_pk = uuid5(_NAMESPACE, f"{caller.user.pk} {body.thread_id}")
        ids = [pk for pk in (parse_id(body.thread_id), self._own_pk) if pk]
        sessions = {session.pk: session for session in caller.stored_sessions().filter(pk__in=ids)}
        self._session = next((sessions[pk] for pk in ids if pk in sessions), None)
        self._answered: Run | None = None  # of interrupts that were answered before

    def find_named(self) -> Run | None:
        """Return the run of this name. Raises ApiError if its answer was deleted."""
        named = AgUiRun.objects.filter(session=self._session, name=self._body.run_id)
        row = named.first() if self._session else None
        run = self._runs().filter(pk=row.run_id).first() if row else None
        if row and run is None:
            raise ApiError("not_found", "The run was deleted.", field="runId")
        return run

    def _runs(self) -> QuerySet[Run]:
        return self._caller.stored_runs().filter(turn__session=self._session)

    def resume(self) -> Run | None:
        """Decide as the request says about the calls that wait; return their run. None if none of them waits.

        Entries that name no interrupt, or one that is decided already, are left out, as the specification wants.
        """
        decided: set[UUID] = set()
        for place, entry in enumerate(self._body.resume or ()):
            approval = self._find_approval(entry)
            run = self._runs().filter(tool_calls=approval.tool_call_id).first() if approval else None
            if approval is None or run is None:
                continue
            self._answered = run
            with inside("resume"), inside(place), named_as_sent(DECISION_FIELDS):
                if _decide(approval, parse_decision(entry, approval)):
                    decided.add(run.pk)
        if not decided or self._answered is None:
            return None
        if len(decided) > 1:
            raise ApiError("invalid_value", "The interrupts are of one run.", field="resume")
        if self._read().parsed.conversation.exchanges:
            raise ApiError("invalid_value", "Send messages when the run has ended.", field="messages")
        self._note(self._answered)
        return self._answered

    def _find_approval(self, entry: AgUiResumeBody) -> Approval | None:
        call = parse_id(entry.interrupt_id)
        try:
            return get_approval(self._caller.user, call) if call and self._session else None
        except ApiError:
            return None

    def start(self, model: str | None) -> tuple[Run, bool]:
        """Start the turn of what is new; return its run, and whether it was started. Raises ApiError."""
        named = find_model(self._caller, model) if model else unnamed_model(self._caller)
        agent = named if isinstance(named, Agent) else None
        if agent and self._session and self._session.agent_id != agent.pk:
            raise ApiError("invalid_value", "The thread has another agent.", field="model")
        models = [] if named is None or agent else [named.name]
        news = self._read()
        parsed, previous = news.parsed, news.previous
        files = stored_files(self._caller, parsed.conversation.exchanges, parsed.inline)
        with named_as_sent(_FIELDS), files, transaction.atomic():
            question = (
                previous.turn.user_message if previous and parsed.conversation.outputs else news.question
            )
            is_new = True
            if parsed.conversation.exchanges:
                run = self._ask(news, agent, models)
            elif live := self._live_answer(question):
                run, is_new = live, False
            elif previous and parsed.conversation.outputs:
                request = RegenerationBody(models=models or [previous.model])
                tools, instructions = self._body.caller_tools, self._instructions(parsed)
                run = answer_calls(previous, parsed.conversation.outputs, request, tools, instructions)
            elif question and self._session:
                request = RegenerationBody(models=models or [next_model(self._session)])
                run = answer_again(question, request, self._body.caller_tools, self._instructions(parsed))
            elif self._answered:
                run, is_new = self._answered, False
            else:
                message = "The last message is of a user, or the output of a call."
                raise ApiError("invalid_value", message, field="text")
            self._note(run)
        return run, is_new

    def _live_answer(self, question: ChatMessage | None) -> Run | None:
        """Return the latest answer to a question that is in progress: nobody asks for another one at the same time."""
        answers = self._runs().filter(message__parent=question, status__in=LIVE)
        return answers.order_by("created_at").last() if question else None

    def _note(self, run: Run) -> None:
        """Remember which run the request is for. Raises IntegrityError if its name is another one's."""
        name = {"session_id": run.turn.session_id, "name": self._body.run_id}
        if not AgUiRun.objects.filter(**name, run=run).exists():
            AgUiRun.objects.create(**name, run=run)

    def _read(self) -> _News:
        """Read the messages that are new."""
        messages = self._body.messages
        if self._session is None:
            return _News(read_messages(messages, 0, None))
        runs = {run.pk: run for run in self._runs().filter(pk__in=runs_of(messages))}
        known, edited = self._known_messages(runs)
        place = find_last(messages, known.keys())
        last = known[messages[place]["id"]] if place >= 0 else None
        previous = last if isinstance(last, Run) else None
        if last is None:
            # Outputs may be told without the message that has their calls.
            previous = next((runs[pk] for pk in reversed(runs_of(messages)) if pk in runs), None)
        parsed = read_messages(messages, place + 1, previous.pk if previous else None)
        if isinstance(last, ChatMessage):
            is_asked = last.role == Role.USER
            parent = last.latest_child_id or UNSET if is_asked else last.pk
            return _News(parsed, question=last if is_asked else None, parent=parent)
        if previous:
            # A question beside an answer in progress waits for it, or stops it, as the chat says.
            return _News(parsed, previous, parent=UNSET if previous.is_live else previous.message_id)
        beside = next((edited[message["id"]] for message in messages if message["id"] in edited), None)
        return _News(parsed, parent=_parent_of(beside) if beside else UNSET)

    def _known_messages(
        self, runs: Mapping[UUID, Run]
    ) -> tuple[dict[str, Run | ChatMessage], dict[str, ChatMessage]]:
        """Return what the chat has of the messages, by their ids, and the questions whose texts were edited: others now."""
        sent = {message["id"]: message for message in self._body.messages}
        known: dict[str, Run | ChatMessage] = {
            name: runs[run] for name in sent if (run := run_of_id(name)) in runs and run
        }
        pks = [pk for name in sent if (pk := parse_id(name))]
        edited: dict[str, ChatMessage] = {}
        rows = ChatMessage.objects.filter(session=self._session).exclude(role=Role.ROOT)
        for row in rows.select_related("parent").filter(Q(client_message_id__in=sent) | Q(pk__in=pks)):
            name = row.client_message_id if row.client_message_id in sent else str(row.pk)
            if message := sent.get(name or ""):
                is_edited = row.role == Role.USER and not asks(message, row.text)
                (edited if is_edited else known)[message["id"]] = row
        return known, edited

    def _ask(self, news: _News, agent: Agent | None, models: list[str]) -> Run:
        *history, question = news.parsed.conversation.exchanges
        outputs = news.parsed.conversation.outputs
        body, session = self._turn_body(news.parsed, question, models), self._session
        if session is None:
            return self._open(history, question, body, agent)
        if history or question.rounds:
            raise ApiError("invalid_value", "A conversation that is stored is not told again.", field="text")
        body.parent = news.parent
        if outputs:
            lock_session(session)
            if not (news.previous and ToolCall.objects.note_outputs(news.previous, outputs)):
                message = "There are no such open calls, or a question has followed other outputs of them."
                raise ApiError("invalid_value", message, field="text")
        return start_run(session, body, question, self._body.caller_tools, is_new=False)

    def _open(
        self, history: Sequence[Exchange], question: Exchange, body: TurnBody, agent: Agent | None
    ) -> Run:
        """Open the chat of the thread, and ask there."""
        body.check(MAX_TOLD_CHARACTERS)
        models = body.models or [""]
        session = open_session(self._caller.user, history, model=models[0], agent=agent, id=self._own_pk)
        run = start_run(session, body, question, self._body.caller_tools, is_new=False)
        if agent and session.agent_id != agent.pk:
            raise ApiError("not_found", NO_MODEL, field="models")
        return run

    def _turn_body(self, parsed: ToldInput, question: Exchange, models: list[str]) -> TurnBody:
        *_, name = [message["id"] for message in self._body.messages if message["role"] == "user"]
        is_free = 1 <= len(name) <= MAX_CLIENT_MESSAGE_ID_CHARACTERS and not (
            self._session and self._session.messages.filter(client_message_id=name).exists()
        )
        return TurnBody(
            question.question,
            models=models or UNSET,
            files=question.files,
            instructions=self._instructions(parsed),
            client_message_id=name if is_free else UNSET,
        )

    def _instructions(self, parsed: ToldInput) -> str:
        return parsed.join_instructions(self._body.context_lines)


def _parent_of(question: ChatMessage) -> UUID | None:
    """Return the answer that a question follows; None for the root."""
    return question.parent.pk if question.parent and question.parent.role != Role.ROOT else None


def _decide(approval: Approval, body: ApprovalBody) -> bool:
    """Decide; return False if that is decided already. Raises ApiError."""
    try:
        decide(approval, body)
    except ApiError as error:
        if error.code == "already_decided":
            return False
        raise
    return True


def load_around(run: Run, show: Callable[[ChatMessage], list[Any]]) -> Around:
    """Load the messages of the chat before the run's own, the latest ones. show: returns those of an answer."""
    messages: list[Any] = []
    branch = list(ChatMessage.objects.branch_to(run.turn.user_message_id, at_most=MAX_BRANCH))
    files = defaultdict(list)
    for row in MessageFile.objects.chosen().filter(message__in=branch):
        kind = "image" if row.file.kind == FileKind.IMAGE else "document"
        source = {"type": "file", "value": str(row.file_id), "provider": "turnwire"}
        files[row.message_id].append({"type": kind, "source": source})
    for message in branch:
        if message.role == Role.USER:
            texts = [{"type": "text", "text": message.text}] if message.text else []
            content = [*texts, *files[message.pk]] if files[message.pk] else message.text
            name = message.client_message_id or str(message.pk)
            messages.append({"id": name, "role": "user", "content": content})
        elif message.role == Role.ASSISTANT:
            messages += show(message)
    return Around(messages, [], is_cut=branch[0].role != Role.ROOT)
