"""A branch as JSON in parts: neither its messages nor their JSON are all in memory, however long they are."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from django.db.models import BigIntegerField, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from msgspec import json

from chat.infrastructure.gc_tuning import free_circles
from chat.log.progress import present_live_branch
from chat.models import ChatMessage, ToolCall
from chat.models.message import MessageQuerySet
from chat.presenters.json_values import JSONObject
from chat.presenters.page_bytes import count_fitting, text_bytes

# Of each message, beside its texts.
_MESSAGE_BYTES: Final = 1_000


def parts_of(branch: MessageQuerySet) -> list[list[UUID]]:
    """Divide the ids of messages, in the order of the branch, into parts whose texts fit a page."""
    calls = ToolCall.objects.filter(message=OuterRef("pk")).order_by().values("message")
    texts = text_bytes("arguments", "response", "documents", "report", "report_reasoning")
    in_calls = Coalesce(Subquery(calls.values(bytes=Sum(texts))), 0, output_field=BigIntegerField())
    sizes = dict(branch.values_list("pk", text_bytes("text", "reasoning") + in_calls))
    ids, parts = list(sizes), []
    while ids:
        count = count_fitting(sizes[pk] + _MESSAGE_BYTES for pk in ids)
        parts.append(ids[:count])
        ids = ids[count:]
    return parts


def present_part(part: Sequence[UUID]) -> list[JSONObject]:
    """Present the messages that are still there."""
    rows = ChatMessage.objects.select_related("run", "feedback").in_bulk(part)
    return present_live_branch(rows[pk] for pk in part if pk in rows)


def as_json(parts: Sequence[Sequence[UUID]]) -> Iterator[bytes]:
    """Yield the array of all messages in pieces."""
    separator = b"["
    for part in parts:
        for message in present_part(part):
            yield separator + json.encode(message)
            separator = b","
        free_circles()
    yield b"[]" if separator == b"[" else b"]"
