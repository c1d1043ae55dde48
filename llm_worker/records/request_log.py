"""Records the requests that attempts sent to their models, and logs how much of each the server may have cached.

Batched over runs: each write costs three round trips. Best effort: requests that a killed worker has not written
are lost.
"""

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import DatabaseError

from chat.infrastructure import prefix_cache
from chat.infrastructure.prefix_cache import PrefixKey
from chat.models import Run, SentRequest
from chat.models.model_requests import RequestOfRun, UnsavedRequest
from llm_worker.database import Database
from llm_worker.loop.context_report import ContextReport
from llm_worker.request.model_message import LanguageModelInput, to_api_messages, total_tokens
from llm_worker.side_requests.kept_messages import encode_messages, encode_storable

# 64 bits suffice: only messages of one session are compared.
DIGEST_BYTES = 8


def prefix_share(previous: LanguageModelInput, request: LanguageModelInput) -> float:
    """Return the tokens of the common leading messages divided by the tokens of `request`; 0 to 1."""
    return share_of_first(common_length(previous, request), request)


def share_of_first(messages: int, request: LanguageModelInput) -> float:
    """Return the share of the first `messages` messages in the tokens of a request; 0 to 1."""
    tokens = total_tokens(request)
    return total_tokens(request[:messages]) / tokens if tokens else 0.0


def common_length(previous: Sequence[object], request: Sequence[object]) -> int:
    """Count the leading messages, or digests of messages, that both requests have in common."""
    return next(
        (number for number, (one, other) in enumerate(zip(previous, request, strict=False)) if one != other),
        min(len(previous), len(request)),
    )


def message_digests(messages: LanguageModelInput) -> list[str]:
    """Return a digest per message, where texts must not be kept.
    Messages that are equal on the wire have equal digests.
    """
    encoded = map(_encoded, to_api_messages(messages))
    return [blake2b(one, digest_size=DIGEST_BYTES).hexdigest() for one in encoded]


def _encoded(wire: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(wire)
    except UnicodeEncodeError:  # a lone surrogate in what a model wrote
        return json.dumps(wire).encode()


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
        common = common_length(self.previous, self.messages)
        share = share_of_first(common, self.messages)
        if self.cycle == 1 and self.tool_call is None:
            share = share_of_first(common_length(known, message_digests(self.messages)), self.messages)
        return UnsavedRequest(
            self.cycle,
            self.tool_call,
            common,
            encode_messages(self.messages[common:]),
            total_tokens(self.messages),
            share,
            self.sent_at,
            msgspec.json.encode(
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


logger = logging.getLogger(__name__)

# The pause between two writes: runs that end meanwhile share the next write.
PAUSE_S = 0.5
# Of the requests in one statement, some megabytes: a connection keeps a buffer as long as its longest statement.
BATCH_TOKENS = 1_000_000


class AttemptRequests(NamedTuple):
    run: Run
    recorded: Sequence[RecordedRequest]

    @property
    def memory(self) -> PrefixKey:
        return PrefixKey(str(self.run.turn.session_id), self.run.model)

    @property
    def tokens(self) -> int:
        return sum(total_tokens(request.messages) for request in self.recorded)


class RequestLog:
    """Collects the requests of all attempts of a process and writes them in batches. Used on the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[AttemptRequests] = []
        self._news = asyncio.Event()

    def keep(self, run: Run, recorded: Sequence[RecordedRequest]) -> None:
        """Queue the requests for the next write; returns at once."""
        if recorded and _are_wanted():
            self._waiting.append(AttemptRequests(run, recorded))
            self._news.set()

    async def keep_writing(self) -> None:
        while True:
            await self._news.wait()
            await self.write()
            await asyncio.sleep(PAUSE_S)

    async def write(self) -> None:
        """Write all queued requests now."""
        waiting, self._waiting = self._waiting, []
        self._news.clear()
        for batch in _batches(waiting):
            try:
                await self._database.call(save_sent_requests, batch)
            except DatabaseError as error:
                logger.warning("the requests of %s runs are not stored: %s", len(batch), error)


def _batches(waiting: Sequence[AttemptRequests]) -> Iterator[list[AttemptRequests]]:
    batch: list[AttemptRequests] = []
    tokens = 0
    for one in waiting:
        if batch and tokens + one.tokens > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(one)
        tokens += one.tokens
    if batch:
        yield batch


def save_sent_requests(batch: Sequence[AttemptRequests]) -> None:
    """Store requests, and digests of the latest ones. Runs in a database thread. Idempotent."""
    if not _are_wanted():
        return
    known = prefix_cache.read_digests({one.memory for one in batch})
    latest: dict[PrefixKey, list[str]] = {}
    kept: list[RequestOfRun] = []
    for one in batch:
        kept += _rows(one, latest.get(one.memory) or known.get(one.memory, []))
        own = [request for request in one.recorded if request.tool_call is None]
        if own:
            latest[one.memory] = message_digests(own[-1].messages)
    stored: set[UUID] = SentRequest.objects.store(kept) if _are_kept() else {one.run.pk for one in batch}
    # Sessions deleted meanwhile leave no digests behind.
    there = {one.memory for one in batch if one.run.pk in stored}
    prefix_cache.store_digests({memory: digests for memory, digests in latest.items() if memory in there})


def _rows(one: AttemptRequests, known: Sequence[str]) -> list[RequestOfRun]:
    rows = [request.to_row(known) for request in one.recorded]
    for row in rows:
        logger.info(
            "run %s cycle %s: %s tokens, prefix share %.3f",
            one.run.pk,
            row.cycle,
            row.tokens,
            row.prefix_share,
        )
    return [RequestOfRun(one.run.pk, one.run.attempt, row) for row in rows]


def _are_wanted() -> bool:
    return _are_kept() or logger.isEnabledFor(logging.INFO)


def _are_kept() -> bool:
    return settings.KEEP_REQUESTS_HOURS > 0
