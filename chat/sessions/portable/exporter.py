"""A session written as its JSON file, piece by piece: memory does not grow with it. Reads the database."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from msgspec import json

from chat.models import ChatMessage, CitedDocument, MessageFile, Session, ToolCall, Turn
from chat.sessions.portable import format as f

CHUNK_MESSAGES: Final = 100


def as_json(session: Session) -> Iterator[bytes]:
    """The file in pieces. What is being answered is written as far as it is stored."""
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
    """The whole tree, each after its parent; siblings in the order in which they were sent."""
    order = _order(session)
    numbers = {pk: number for number, pk in enumerate(order)}
    turns = _turns(session)
    for start in range(0, len(order), CHUNK_MESSAGES):
        yield from _Chunk(order[start : start + CHUNK_MESSAGES], numbers, turns).messages()


def _order(session: Session) -> list[UUID]:
    below: dict[UUID | None, list[UUID]] = defaultdict(list)
    for pk, parent in session.messages.order_by("sent_at", "id").values_list("id", "parent_id"):
        below[parent].append(pk)
    order: list[UUID] = []
    waiting = list(below[None])
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(below[order[-1]])
    return order


def _turns(session: Session) -> dict[UUID, int]:
    """Turn -> which of its question's it is, from 0."""
    seen: dict[UUID, int] = defaultdict(int)
    numbers = {}
    for pk, question in Turn.objects.filter(session=session).values_list("id", "user_message_id"):
        numbers[pk] = seen[question]
        seen[question] += 1
    return numbers


class _Chunk:
    """Some messages with what hangs on them: one query each, however many."""

    def __init__(self, ids: list[UUID], numbers: dict[UUID, int], turns: dict[UUID, int]) -> None:
        self.ids, self.numbers, self.turns = ids, numbers, turns
        self.files = _by_message(MessageFile.objects.filter(message__in=ids).select_related("file"))
        self.citations = _by_message(CitedDocument.objects.filter(message__in=ids))
        self.calls: dict[Any, list[ToolCall]] = defaultdict(list)
        for call in ToolCall.objects.filter(run__message__in=ids):
            self.calls[call.parent_tool_call_id or call.message_id].append(call)

    def messages(self) -> Iterator[f.Message]:
        found = ChatMessage.objects.select_related("run", "feedback").in_bulk(self.ids)
        for pk in self.ids:
            # Deleted in the meantime: then all of them are, and the file ends early.
            if pk in found:
                yield self._message(found[pk])

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
        run = row.answered_by
        if run is None:
            return None
        error = f.Error(run.error_code, run.error_message, run.error_retryable) if run.error_code else None
        cost = None if run.cost is None else f"{run.cost.normalize():f}"
        usage = f.Usage(**{name: getattr(run, name) for name in f.TOKENS}, cost=cost)
        told = {name: getattr(run, name) for name in f.RUN}
        return f.Run(**told, turn=self.turns.get(run.turn_id, 0), error=error, usage=usage)

    def _number(self, pk: UUID | None) -> int | None:
        return None if pk is None else self.numbers.get(pk)


def _by_message(rows: Any) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.message_id].append(row)
    return found


def _feedback(row: ChatMessage) -> f.Feedback | None:
    given = getattr(row, "feedback", None)
    return f.Feedback(given.is_positive, given.text) if given else None


def _document(kept: dict[str, Any]) -> f.Document:
    return f.Document(**{name: kept[name] for name in f.DOCUMENT if kept.get(name) is not None})
