"""Imports a session from a parsed JSON file, or from the manifest of an archive, as a new session, in one transaction.

Runs that were in progress are imported as stopped, tool calls in progress as unknown. Usage and cost of imported runs
are shown, but not counted in the owner's usage.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from msgspec.structs import asdict

from chat.events import session_list
from chat.models import (
    ChatMessage,
    CitedDocument,
    EditedAnswer,
    Feedback,
    MessageFile,
    Run,
    Session,
    StoredBytes,
    ToolCall,
    ToolCallImage,
    Turn,
)
from chat.models.sql import statements
from chat.models.tool_call import ToolCallStatus
from chat.presenters.tools import known_tools
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE, Status
from chat.runs import new_files as extraction
from chat.runs import quotas
from chat.sessions.portable import format as f
from chat.sessions.portable.parser import parse
from chat.sessions.settings import SettingsBody, add_stored_session, adopt_tags
from chat.transcript.answer_settings import OptionsBody, SessionSettings
from chat.transcript.tokens import count_tokens
from knowledge.models import File, FileStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# The error code of a file that is imported without its content.
CONTENT_MISSING: Final = "content_missing"
_OPEN_CALLS: Final = (ToolCallStatus.PENDING, ToolCallStatus.WAITING, ToolCallStatus.RUNNING)


def import_session(owner: "User", data: dict[str, Any]) -> Session:
    """Import a session. data: the parsed JSON file. Raises ApiError; then nothing was stored."""
    return store_session(owner, parse(data, timezone.now()), {})


def check_room(owner: "User", new_bytes: int, new_files: int = 0, new_images: int = 0) -> None:
    """Raise ApiError if the owner has no room now. Called before the work; the checks under the lock are decisive.

    The files of one import may exceed the limit of waiting files; otherwise a large import would never fit.
    """
    quotas.SESSIONS.check(owner)
    quotas.FILES.check(owner, new_files)
    if new_files or new_images:
        quotas.WAITING_FILES.check(owner)
    quotas.check_storage(owner.pk, StoredBytes.objects.sum_of(owner.pk), new_bytes)


class Origin(NamedTuple):
    """The id for a session from another product, and its times there."""

    id: UUID
    created_at: datetime
    updated_at: datetime


def store_session(
    owner: "User",
    portable: f.Portable,
    contents: Mapping[str, File],
    origin: Origin | None = None,
    fields: Mapping[str, Any] = MappingProxyType({}),
) -> Session:
    """Store an imported session. Raises ApiError; then nothing was stored.

    contents: by entry, new files of the owner with contents in the storage; their rows are stored with the session.
    fields: of the session, beside those of the file.
    """
    own = {"id": origin.id if origin else uuid4(), "owner": owner, **fields}
    rows = _Rows(portable, contents, Session(**own))
    for answers in rows.answers_by_question():
        quotas.check_answers(0, answers)
    check_room(owner, new_bytes=1)
    with transaction.atomic():
        rows.store()
        add_stored_session(rows.session)
        adopt_tags(rows.session, portable.tags)
        # The owner is locked by now.
        quotas.FILES.check(owner, 0)
        if origin:
            _set_times(rows.session, origin)
        session_list.publish_created(rows.session)
        for file in contents.values():
            extraction.extract_on_commit(file)
    return rows.session


def _set_times(session: Session, origin: Origin) -> None:
    """Set the session's times to those of its origin, which decide its place in the list."""
    session.created_at, session.updated_at = origin.created_at, origin.updated_at
    Session.objects.filter(pk=session.pk).update(created_at=origin.created_at, updated_at=origin.updated_at)


def _settings(portable: f.Portable) -> SessionSettings:
    """Build the settings without what is unknown here or invalid, which must not keep a session from being imported."""
    sent = {**portable.settings, "while_answering": portable.while_answering}
    options, tools = sent.pop("options", None), sent.pop("tools", None)
    return SessionSettings(
        **_valid_members(SettingsBody, sent),
        options=_valid_members(OptionsBody, options),
        tools=known_tools(tools) if isinstance(tools, list) else [],
    )


def _valid_members(body: type[Body], sent: object) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in sent.items() if isinstance(sent, dict) else ():
        with suppress(ApiError):
            members |= body.parse({name: value}).members()
    return members


class _Rows:
    """All rows of an imported session, not stored yet."""

    def __init__(self, portable: f.Portable, contents: Mapping[str, File], session: Session) -> None:
        self.contents = contents
        self.session = session
        session.title, session.settings = portable.title, _settings(portable)
        self.portable_messages = portable.messages
        self.ids = [uuid4() for _ in self.portable_messages]
        self.turns: dict[tuple[int | None, int], Turn] = {}
        self.origins: dict[UUID, int] = {}
        self.runs: list[Run] = []
        self.calls: list[ToolCall] = []
        self.images: list[ToolCallImage] = []
        self.messages = [self._message(one) for one in self.portable_messages]
        for one in self.portable_messages:
            if one.run and one.parent is not None:
                self._add_run(one, one.run)
        for (question, _), turn in self.turns.items():
            turn.origin = self.turns.get((question, self.origins.get(turn.pk, -1)))

    def store(self) -> None:
        """Store all rows but the session in the caller's transaction. Foreign keys are checked at the commit."""
        session = self.session
        session.leaf_id = self.ids[self._leaf()]
        for rows in (self.messages, list(self.turns.values()), self.runs, self.calls):
            statements.insert(rows)
        CitedDocument.objects.bulk_create(self._citations())
        Feedback.objects.bulk_create(self._feedback())
        EditedAnswer.objects.bulk_create(self._edited_answers())
        self._store_files()

    def answers_by_question(self) -> Iterable[int]:
        """Return the number of answers of each question."""
        return Counter(run.turn.user_message_id for run in self.runs).values()

    def _message(self, one: f.Message) -> ChatMessage:
        return ChatMessage(
            id=self.ids[one.id],
            session=self.session,
            parent_id=self._id(one.parent),
            parent_role=None if one.parent is None else self.portable_messages[one.parent].role,
            role=one.role,
            text=one.text,
            reasoning=one.reasoning,
            token_count=count_tokens(one.text),
            latest_child_id=self._id(one.latest_child),
            last_summarized_message_id=self._id(one.last_summarized_message),
            sent_at=one.sent_at,
        )

    def _add_run(self, one: f.Message, run: f.Run) -> None:
        ended_at = run.ended_at or max(run.created_at, one.sent_at)
        turn = self._turn(one, run, ended_at)
        status = Status.STOPPED if Status(run.status) in LIVE else Status(run.status)
        stored = {name: getattr(run, name) for name in f.RUN} | {"status": status, "ended_at": ended_at}
        row = Run(
            turn=turn,
            message_id=self.ids[one.id],
            deadline=ended_at,
            announced_at=ended_at,
            # The packet log of an ended run contains at least `stop`.
            attempt=1,
            last_seq=1,
            is_imported=True,
            **stored,
            **_error(run),
            **_usage(run.usage),
        )
        self.runs.append(row)
        self._add_calls(one.tool_calls, row, message_id=row.message_id)

    def _turn(self, one: f.Message, run: f.Run, ended_at: datetime) -> Turn:
        """Return the turn of a run, shared by its runs: from the creation of the first to the end of the last."""
        turn = self.turns.get((one.parent, run.turn))
        if turn is None:
            question = self.portable_messages[one.parent or 0]
            turn = self.turns[one.parent, run.turn] = Turn(
                session=self.session,
                user_message_id=self.ids[question.id],
                created_at=run.created_at,
                additional_context=question.additional_context,
            )
        if run.origin is not None:
            self.origins[turn.pk] = run.origin
        turn.created_at = min(turn.created_at, run.created_at)
        turn.ended_at = max(turn.ended_at or ended_at, ended_at)
        return turn

    def _add_calls(self, calls: Sequence[f.Call], run: Run, **above: Any) -> None:
        for one in calls:
            stored = {name: getattr(one, name) for name in f.CALL}
            if one.status in _OPEN_CALLS:
                stored["status"] = ToolCallStatus.UNKNOWN
            documents = [asdict(document) for document in one.documents]
            row = ToolCall(run=run, documents=documents, created_at=run.created_at, **stored, **above)
            self.calls.append(row)
            for position, given in enumerate(one.images):
                if file := self.contents.get(given.entry or ""):
                    self.images.append(ToolCallImage(tool_call=row, file=file, position=position))
            self._add_calls(one.children, run, parent_tool_call=row)

    def _citations(self) -> Iterator[CitedDocument]:
        for one in self.portable_messages:
            for cited in one.citations:
                yield CitedDocument(message_id=self.ids[one.id], **asdict(cited))

    def _edited_answers(self) -> Iterator[EditedAnswer]:
        for one in self.portable_messages:
            if one.edited:
                yield EditedAnswer(
                    message_id=self.ids[one.id],
                    original_id=self._id(one.edited.original),
                    model=one.edited.model,
                )

    def _feedback(self) -> Iterator[Feedback]:
        for one in self.portable_messages:
            if one.feedback:
                yield Feedback(message_id=self.ids[one.id], **asdict(one.feedback))

    def _store_files(self) -> None:
        """Store the files and their places. A file without content is stored as failed, with CONTENT_MISSING."""
        files: list[File] = list(self.contents.values())
        places = []
        for one in self.portable_messages:
            message = self.ids[one.id]
            for position, given in enumerate(one.files):
                file = self.contents.get(given.entry or "")
                if file is None:
                    file = self._file_without_content(given)
                    files.append(file)
                place = MessageFile(message_id=message, file=file, position=position, number=given.number)
                places.append(place)
        File.objects.bulk_create(files)
        MessageFile.objects.bulk_create(places)
        ToolCallImage.objects.bulk_create(self.images)

    def _file_without_content(self, given: f.File) -> File:
        return File(
            owner=self.session.owner,
            name=given.name,
            kind=given.kind,
            status=FileStatus.FAILED,
            error_code=CONTENT_MISSING,
        )

    def _leaf(self) -> int:
        number = 0
        while (child := self.portable_messages[number].latest_child) is not None:
            number = child
        return number

    def _id(self, number: int | None) -> UUID | None:
        return None if number is None else self.ids[number]


def _error(run: f.Run) -> dict[str, Any]:
    error = run.error
    if error is None:
        return {}
    return {"error_code": error.code, "error_message": error.message, "error_retryable": error.retryable}


def _usage(usage: f.Usage) -> dict[str, Any]:
    cost = None if usage.cost is None else Decimal(usage.cost)
    return {name: getattr(usage, name) for name in f.TOKENS} | {"cost": cost}
