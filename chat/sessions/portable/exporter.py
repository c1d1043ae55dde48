"""Exports a session as a JSON file, in pieces: memory does not grow with the session. Reads the database."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import models
from msgspec import json, to_builtins
from msgspec.structs import replace

from chat.models import ChatMessage, CitedDocument, EditedAnswer, MessageFile, Session, ToolCall, Turn, run_of
from chat.models.turn import SentBeside
from chat.sessions.portable import format as f
from chat.transcript.answer_settings import present_options

CHUNK_MESSAGES: Final = 100
CHUNK_CALLS: Final = 2_000


class DocumentFiles(NamedTuple):
    """The files of the document. files_of: returns those of a chunk of messages, by message.
    images: that tool calls returned, by call.
    """

    files_of: Callable[[list[UUID]], Mapping[UUID, list[f.File]]]
    images: Mapping[UUID, list[f.File]] = {}


def as_json(session: Session) -> Iterator[bytes]:
    """Yield the file in pieces, without images of tools. An answer in progress is exported as far as it is stored."""
    return document(session, f.VERSION, DocumentFiles(_names_of))


def document(session: Session, version: int, files: DocumentFiles) -> Iterator[bytes]:
    settings = _settings(session)
    has_additions = bool(session.tags) or EditedAnswer.objects.filter(message__session=session).exists()
    head = {
        "format": f.NAME,
        "version": max(version, has_additions and f.ADDITIONS_VERSION, bool(settings) and f.SETTINGS_VERSION),
        "title": session.title,
        "while_answering": session.settings.while_answering,
    }
    additions = {"tags": session.tags, "settings": settings}
    head |= {name: value for name, value in additions.items() if value}
    yield json.encode(head)[:-1] + b',"messages":['
    is_first = True
    for message in messages_of(session, files):
        yield (b"\n" if is_first else b",\n") + json.encode(message)
        is_first = False
    yield b"\n]}\n"


def _settings(session: Session) -> dict[str, Any]:
    """Return the settings as requests have them, without ids and without the member that the file always has."""
    settings = session.settings
    sent = to_builtins(replace(settings, options=present_options(settings.options)))
    return {name: value for name, value in sent.items() if name not in ("knowledge_bases", "while_answering")}


def messages_of(session: Session, files: DocumentFiles | None = None) -> Iterator[f.Message]:
    """Yield all messages of the tree, each after its parent, siblings oldest first.
    files: None means that files have only names."""
    order = order_of(session)
    numbers = {pk: number for number, pk in enumerate(order)}
    turns = _turn_places(session)
    for ids in _chunks(session, order):
        yield from _Chunk(ids, numbers, turns, files or DocumentFiles(_names_of)).messages()


def _names_of(ids: list[UUID]) -> dict[UUID, list[f.File]]:
    attached = _by_message(MessageFile.objects.chosen().filter(message__in=ids))
    return {
        message: [f.File(one.file.name, one.file.kind, one.number) for one in files]
        for message, files in attached.items()
    }


def _chunks(session: Session, order: list[UUID]) -> Iterator[list[UUID]]:
    """Divide the ids into chunks of at most CHUNK_MESSAGES messages and CHUNK_CALLS tool calls.
    A message with more calls is a chunk of its own."""
    counted = ToolCall.objects.filter(run__turn__session=session).order_by().values_list("run__message")
    calls = dict(counted.annotate(models.Count("id")))
    chunk: list[UUID] = []
    chunk_calls = 0
    for pk in order:
        if len(chunk) == CHUNK_MESSAGES or (chunk and chunk_calls + calls.get(pk, 0) > CHUNK_CALLS):
            yield chunk
            chunk, chunk_calls = [], 0
        chunk.append(pk)
        chunk_calls += calls.get(pk, 0)
    yield chunk


def order_of(session: Session) -> list[UUID]:
    """Return the message ids in depth-first order, siblings oldest first."""
    children: dict[UUID | None, list[UUID]] = defaultdict(list)
    for pk, parent in session.messages.order_by("sent_at", "id").values_list("id", "parent_id"):
        children[parent].append(pk)
    order: list[UUID] = []
    stack = list(children[None])
    while stack:
        order.append(stack.pop())
        stack += reversed(children[order[-1]])
    return order


class _TurnPlace(NamedTuple):
    """The members `turn` and `origin` of the runs of a turn."""

    turn: int
    origin: int | None


def _turn_places(session: Session) -> dict[UUID, _TurnPlace]:
    """Return the places by turn id. The turns of each question are numbered from 0.

    Of a turn whose answers were all deleted, the first retry takes the place.
    """
    counts: dict[UUID, int] = defaultdict(int)
    places: dict[UUID, _TurnPlace] = {}
    first: dict[UUID, int] = {}
    turns = Turn.objects.filter(session=session, runs__isnull=False).distinct()
    # A turn comes after its origin.
    for turn in turns.only("user_message_id", "origin_id", "created_at").order_by("created_at", "id"):
        number = counts[turn.user_message_id]
        origin = first.setdefault(turn.columns_id, number)
        places[turn.pk] = _TurnPlace(number, None if origin == number else origin)
        counts[turn.user_message_id] += 1
    return places


class _Chunk:
    """A batch of messages with their related rows: one query per table."""

    def __init__(
        self,
        ids: list[UUID],
        numbers: dict[UUID, int],
        turns: dict[UUID, _TurnPlace],
        files: DocumentFiles,
    ) -> None:
        self.ids, self.numbers, self.turns = ids, numbers, turns
        self.files, self.images = files.files_of(ids), files.images
        self.citations = _by_message(CitedDocument.objects.filter(message__in=ids))
        self.calls: dict[Any, list[ToolCall]] = defaultdict(list)
        for call in ToolCall.objects.filter(run__message__in=ids):
            self.calls[call.parent_tool_call_id or call.message_id].append(call)
        self.beside = Turn.objects.sent_beside_each(ids)

    def messages(self) -> Iterator[f.Message]:
        rows = ChatMessage.objects.select_related("run", "feedback").in_bulk(self.ids)
        edited = EditedAnswer.objects.by_message(rows.values())
        for pk in self.ids:
            # If the session is deleted during the export, the file ends early.
            if pk in rows:
                yield self._message(rows[pk], edited.get(pk))

    def _message(self, row: ChatMessage, edited: EditedAnswer | None) -> f.Message:
        return f.Message(
            id=self.numbers[row.pk],
            role=row.role,  # type: ignore[arg-type]
            sent_at=row.sent_at,
            parent=self._number(row.parent_id),
            text=row.text,
            reasoning=row.reasoning,
            latest_child=self._number(row.latest_child_id),
            last_summarized_message=self._number(row.last_summarized_message_id),
            additional_context=self.beside.get(row.pk, SentBeside()).additional_context,
            files=self.files.get(row.pk, []),
            tool_calls=[self._call(call) for call in self.calls[row.pk]],
            citations=[
                f.Citation(one.number, one.document_id, one.title, one.url) for one in self.citations[row.pk]
            ],
            feedback=_feedback(row),
            run=self._run(row),
            edited=f.Edited(self._number(edited.original_id), edited.model) if edited else None,
        )

    def _call(self, row: ToolCall) -> f.Call:
        return f.Call(
            **{name: getattr(row, name) for name in f.CALL},
            documents=[_document(document) for document in row.documents],
            images=self.images.get(row.pk, []),
            children=[self._call(child) for child in self.calls[row.pk]],
        )

    def _run(self, row: ChatMessage) -> f.Run | None:
        run = run_of(row)
        if run is None:
            return None
        error = f.Error(run.error_code, run.error_message, run.error_retryable) if run.error_code else None
        cost = None if run.cost is None else f"{run.cost.normalize():f}"
        usage = f.Usage(**{name: getattr(run, name) for name in f.TOKENS}, cost=cost)
        members = {name: getattr(run, name) for name in f.RUN}
        place = self.turns.get(run.turn_id, _TurnPlace(0, None))
        return f.Run(**members, **place._asdict(), error=error, usage=usage)

    def _number(self, pk: UUID | None) -> int | None:
        return None if pk is None else self.numbers.get(pk)


def _by_message(rows: Any) -> dict[UUID, list[Any]]:
    by_message: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        by_message[row.message_id].append(row)
    return by_message


def _feedback(row: ChatMessage) -> f.Feedback | None:
    feedback = getattr(row, "feedback", None)
    return f.Feedback(feedback.is_positive, feedback.text) if feedback else None


def _document(stored: dict[str, Any]) -> f.Document:
    return f.Document(
        **{name: stored[name] for name in f.Document.__struct_fields__ if stored.get(name) is not None}
    )
