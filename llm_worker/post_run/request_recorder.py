"""Records the requests that an attempt sends to its model and converts them to rows. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import json

from chat.models.sent_request import UnsavedRequest
from chat.transcript.entries import Image
from llm_worker.post_run.context_report import ContextReport
from llm_worker.request import prefix
from llm_worker.request.api_messages import to_api_messages
from llm_worker.request.message import LanguageModelInput, Message, total_tokens
from llm_worker.stream.sanitiser import Sanitiser


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request. previous: the messages of the same loop's previous request, empty before the first. sent_at: UTC.

    tool_call: the agent call whose inner loop sent it; None for the run's loop.  cycle: from 1 within that loop.
    report: how it was built; None if unknown.
    """

    messages: LanguageModelInput
    previous: LanguageModelInput
    cycle: int
    tool_call: UUID | None
    sent_at: datetime
    report: ContextReport | None = None

    def to_row(self, known: Sequence[str] = ()) -> UnsavedRequest:
        """known: digests of the messages the server was sent before this attempt."""
        common = prefix.common_length(self.previous, self.messages)
        share = prefix.share_of_first(common, self.messages)
        if self.cycle == 1 and self.tool_call is None:
            share = prefix.share_of_first(
                prefix.common_length(known, prefix.message_digests(self.messages)), self.messages
            )
        return UnsavedRequest(
            self.cycle,
            self.tool_call,
            common,
            encode_messages(self.messages[common:]),
            total_tokens(self.messages),
            share,
            self.sent_at,
            json.encode(
                [(" ".join(message.letters), message.tokens) for message in self.messages[common:]]
            ).decode(),
            _encoded(self.report.as_json() if self.report else {}),
        )


class RequestRecorder:
    """Holds references only while the run streams; the expensive work is done in to_row()."""

    def __init__(self) -> None:
        self._latest: dict[UUID | None, RecordedRequest] = {}
        self._waiting: list[RecordedRequest] = []

    def record(
        self,
        messages: LanguageModelInput,
        sent_at: datetime,
        *,
        tool_call: UUID | None = None,
        report: ContextReport | None = None,
    ) -> None:
        """Add a request of the run's loop (tool_call: None) or of an agent tool's loop."""
        before = self._latest.get(tool_call)
        previous, cycle = (before.messages, before.cycle + 1) if before else ((), 1)
        recorded = RecordedRequest(messages, previous, cycle, tool_call, sent_at, report)
        self._latest[tool_call] = recorded
        self._waiting.append(recorded)

    def take(self) -> list[RecordedRequest]:
        """Return and forget the requests recorded since the last call, in send order."""
        taken, self._waiting = self._waiting, []
        return taken


def encode_messages(messages: LanguageModelInput) -> str:
    """JSON of the messages as they are sent, without the data of pictures; Postgres can store it."""
    return _encoded(to_api_messages([_as_kept(message) for message in messages]))


def _encoded(wire: Any) -> str:
    try:
        encoded = json.encode(wire).decode()
    except UnicodeEncodeError:
        encoded = "\\u0000"
    # Postgres accepts neither NUL nor lone surrogates, and call arguments are kept as the model wrote them.
    return json.encode(_clean(wire)).decode() if "\\u0000" in encoded else encoded


def _as_kept(message: Message) -> Message:
    """Without pixels, and without what only the server that gave it may read."""
    message = replace(message, members={}) if message.members else message
    return replace(message, images=tuple(map(_left_out, message.images))) if message.images else message


def _left_out(image: Image) -> Image:
    return replace(image, url=f"{image.url.partition(',')[0]},({len(image.url)} characters left out)")


def _clean(value: Any) -> Any:
    match value:
        case str():
            sanitiser = Sanitiser()
            return sanitiser.clean(value) + sanitiser.flush()
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {key: _clean(item) for key, item in value.items()}
        case _:
            return value
