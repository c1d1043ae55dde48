"""Records the requests that an attempt sends to its model and converts them to rows. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec import json

from chat.models.model_requests import UnsavedRequest
from llm_worker.loop.context_report import ContextReport
from llm_worker.request import prefix
from llm_worker.request.model_message import LanguageModelInput, total_tokens
from llm_worker.side_requests.kept_messages import encode_messages, encode_storable


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request. previous: the messages of the same loop's previous request; empty for the first.  sent_at: UTC.

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
        """Convert the request to a row. known: digests of the messages that the server was sent before this attempt."""
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
            encode_storable(self.report.as_json() if self.report else {}),
        )


class RequestRecorder:
    """Records the requests of an attempt. Only stores references while the run streams; to_row() does the work."""

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
