"""Exports a session as a JSON file, in pieces: memory does not grow with the session. Reads the database."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from msgspec import json

from chat.models import ChatMessage, CitedDocument, MessageFile, Session, ToolCall, Turn, run_of
from chat.sessions.portable import format as f

CHUNK_MESSAGES: Final = 100


def as_json(session: Session) -> Iterator[bytes]:
    """The file in pieces. An answer in progress is exported as far as it is stored."""
    title, mode = json.encode(session.title).decode(), session.while_answering
    yield (
        f'{{"format":"{f.NAME}","version":{f.VERSION},"title":{title},"while_answering":"{mode}","messages":['
    ).encode()
    is_first = True
    for message in messages_of(session):
        yield (b"\n" if is_first else b",\n") + json.encode(message)
        is_first = False
    yield b"\n]}\n"


def messages_of(session: Session) -> Iterator[f.Message]:
    """All messages of the tree, each after its parent, siblings oldest first."""
    order = _order(session)
    numbers = {pk: number for number, pk in enumerate(order)}
    turns = _turn_numbers(session)
    for start in range(0, len(order), CHUNK_MESSAGES):
        yield from _Chunk(order[start : start + CHUNK_MESSAGES], numbers, turns).messages()


def _order(session: Session) -> list[UUID]:
    """Message ids in depth-first order."""
    children: dict[UUID | None, list[UUID]] = defaultdict(list)
    for pk, parent in session.messages.order_by("sent_at", "id").values_list("id", "parent_id"):
        children[parent].append(pk)
    order: list[UUID] = []
    stack = list(children[None])
    while stack:
        order.append(stack.pop())
        stack += reversed(children[order[-1]])
    return order


def _turn_numbers(session: Session) -> dict[UUID, int]:
    """Turn id -> its number among the turns of its question, from 0."""
    counts: dict[UUID, int] = defaultdict(int)
    numbers = {}
    for pk, question in Turn.objects.filter(session=session).values_list("id", "user_message_id"):
        numbers[pk] = counts[question]
        counts[question] += 1
    return numbers


class _Chunk:
    """A batch of messages with their related rows: one query per table."""

    def __init__(self, ids: list[UUID], numbers: dict[UUID, int], turns: dict[UUID, int]) -> None:
        self.ids, self.numbers, self.turns = ids, numbers, turns
        self.files = _by_message(MessageFile.objects.filter(message__in=ids).select_related("file"))
        self.citations = _by_message(CitedDocument.objects.filter(message__in=ids))
        self.calls: dict[Any, list[ToolCall]] = defaultdict(list)
        for call in ToolCall.objects.filter(run__message__in=ids):
            self.calls[call.parent_tool_call_id or call.message_id].append(call)

    def messages(self) -> Iterator[f.Message]:
        rows = ChatMessage.objects.select_related("run", "feedback").in_bulk(self.ids)
        for pk in self.ids:
            # A session deleted during the export: the file ends early.
            if pk in rows:
                yield self._message(rows[pk])

    def _message(self, row: ChatMessage) -> f.Message:
        return f.Message(
            id=self.numbers[row.pk],
            role=row.role,  # type: ignore[arg-type]
            sent_at=row.sent_at,
            parent=self._number(row.parent_id),
            text=row.text,
            reasoning=row.reasoning,
            latest_child=self._number(row.latest_child_id),
            last_summarized_message=self._number(row.last_summarized_message_id),
            files=[f.File(one.file.name, one.file.kind, one.number) for one in self.files[row.pk]],
            tool_calls=[self._call(call) for call in self.calls[row.pk]],
            citations=[
                f.Citation(one.number, one.document_id, one.title, one.url) for one in self.citations[row.pk]
            ],
            feedback=_feedback(row),
            run=self._run(row),
        )

    def _call(self, row: ToolCall) -> f.Call:
        return f.Call(
            **{name: getattr(row, name) for name in f.CALL},
            documents=[_document(document) for document in row.documents],
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
        return f.Run(**members, turn=self.turns.get(run.turn_id, 0), error=error, usage=usage)

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
    return f.Document(**{name: stored[name] for name in f.DOCUMENT if stored.get(name) is not None})
