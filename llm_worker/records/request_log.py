"""Stores the requests that attempts sent to their models, and logs how much of each the server may have cached.

Batched over runs: each write costs three round trips. Best effort: requests that a killed worker has not written
are lost.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError

from chat.infrastructure import prefix_cache
from chat.infrastructure.prefix_cache import PrefixKey
from chat.models import Run, SentRequest
from chat.models.model_requests import RequestOfRun
from llm_worker.database import Database
from llm_worker.records.request_recorder import RecordedRequest
from llm_worker.request import prefix
from llm_worker.request.model_message import total_tokens

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
            latest[one.memory] = prefix.message_digests(own[-1].messages)
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
