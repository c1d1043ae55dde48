"""The siblings of messages and the columns of answers, as clients see them: one query for any number of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self
from uuid import UUID

from chat.models import ChatMessage
from chat.presenters.json_values import JSONObject


class Column(NamedTuple):
    """turn: the turn in whose columns the answer stands. number: the model_index of its run."""

    turn: UUID
    number: int


class Siblings:
    """The siblings of messages. attempts: the answers in a column, by turn and column, each oldest first."""

    def __init__(self) -> None:
        self._siblings: dict[tuple[UUID | None, str], list[UUID]] = defaultdict(list)
        self._columns: dict[UUID, Column] = {}
        self._attempts: dict[UUID, dict[int, list[UUID]]] = defaultdict(lambda: defaultdict(list))

    @classmethod
    def read(cls, messages: Iterable[ChatMessage]) -> Self:
        rows = ChatMessage.objects.filter(parent__in={message.parent_id for message in messages})
        columns = ("id", "parent_id", "role", "run__turn_id", "run__turn__origin_id", "run__model_index")
        read = cls()
        for pk, parent, role, turn, origin, index in rows.order_by("sent_at", "id").values_list(*columns):
            read._siblings[parent, role].append(pk)
            if turn is not None:
                read._columns[pk] = Column(origin or turn, index)
                read._attempts[origin or turn][index].append(pk)
        return read

    def present(self, message: ChatMessage) -> JSONObject:
        """Return the member `siblings`, and for an answer `column` and `attempts`, the answers in its column."""
        presented: JSONObject = {"siblings": self._siblings[message.parent_id, message.role]}
        place = self._columns.get(message.pk)
        if place is None:
            return presented
        attempts = self._attempts[place.turn][place.number]
        return presented | {"column": place.number, "attempts": attempts}

    def alongside(self, answer: UUID) -> list[UUID]:
        """Return the newest answer of each other column, in the order of the columns."""
        place = self._columns.get(answer)
        if place is None:
            return []
        columns: Mapping[int, Sequence[UUID]] = self._attempts[place.turn]
        return [columns[index][-1] for index in sorted(columns) if index != place.number]
