"""Executes the compressions of one worker process: claims them, keeps their lease, and ends each exactly once.

Each runs on its own event loop in the Celery thread that received its message: they are few and take seconds.
measurement.py measures, summarise.py asks the model, and chat/compressions/requests.py stores the end.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError

from chat.compressions import requests as compression_requests
from chat.compressions.requests import CompressionUsage, NewSummary
from chat.infrastructure import log_context
from chat.infrastructure.background import start_task
from chat.infrastructure.fault_points import reach
from chat.infrastructure.liveness import new_owner
from chat.infrastructure.redis_client import close_async_redis
from chat.models import Compression, CompressionStatus, ModelConfig, Session
from chat.models.lease import COMPRESSION_LEASE
from chat.models.model_requests import Purpose
from chat.protocol.errors import NO_UPSTREAM_ERROR
from chat.transcript.usage import MAX_TOKENS, TokenUsage
from compression.measurement import CompressionJob, plan_job
from compression.summarise import SummaryRejected, WrittenSummary, compress_chat_history
from llm_worker.database import Database
from llm_worker.side_requests.recording import RecordingModels, SideTask
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels

logger = logging.getLogger(__name__)

# One request at a time; the second connection is for a retry while the first is still being closed.
CONNECTIONS = 2


class UsageOfModel(NamedTuple):
    """What was used of a model, by request."""

    config: ModelConfig
    requests: list[TokenUsage]


class CompressionRunner:
    """Executes compressions. `run` may be called from any number of threads, `drain` from a signal handler."""

    def __init__(self) -> None:
        self.owner = new_owner()
        self._database = Database()
        self._is_draining = threading.Event()
        self._cancellations: set[Callable[[], object]] = set()

    def run(self, compression_id: str) -> None:
        """Execute a compression; return when it has ended, was released, or could not be claimed."""
        asyncio.run(self._run(compression_id))

    def drain(self) -> None:
        """Claim nothing more, and release the compressions that are running."""
        self._is_draining.set()
        for cancel in list(self._cancellations):
            cancel()

    def close(self) -> None:
        self._database.close()

    async def _run(self, compression_id: str) -> None:
        if self._is_draining.is_set():
            return  # the sweeper sends the message again
        held = await self._database.call_with_retry(Compression.objects.claim, compression_id, self.owner)
        if held is None:
            logger.debug("compression %s: not claimed", compression_id)
            return
        reach("after_compression_claim")
        with log_context.bound(
            compression=held.pk,
            session=held.session_id,
            attempt=held.attempt,
            request_id=held.request_id,
        ):
            await self._carry_out(held)

    async def _carry_out(self, held: Compression) -> None:
        work = asyncio.create_task(self._execute(held))
        heartbeat = start_task("compression lease", partial(self._keep_lease, held, work))
        loop = asyncio.get_running_loop()
        cancel = partial(loop.call_soon_threadsafe, work.cancel)
        self._cancellations.add(cancel)
        try:
            if self._is_draining.is_set():  # since the claim
                work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        finally:
            self._cancellations.discard(cancel)
            heartbeat.cancel()
        if work.cancelled() and self._is_draining.is_set():
            await self._database.call_with_retry(release, held)

    async def _keep_lease(self, held: Compression, work: asyncio.Task[None]) -> None:
        """Extend the lease until cancelled; cancel `work` if another attempt has the row.

        While Postgres is unreachable, the work continues: its end is fenced by the attempt.
        """
        while True:
            await asyncio.sleep(COMPRESSION_LEASE.beat_s)
            try:
                if not await self._database.call(held.extend_lease):
                    work.cancel()
            except DatabaseError as error:
                logger.warning("%s: no heartbeat: %s", held, error)

    async def _execute(self, held: Compression) -> None:
        """Execute one compression to its end. Any exception ends this compression only, not the process."""
        status, code, upstream_error = CompressionStatus.NOTHING, "", NO_UPSTREAM_ERROR
        used: list[UsageOfModel] = []
        job: CompressionJob | None = None
        try:
            job = await self._database.call_with_retry(start_job, held)
            if job and await self._summarise(held, job, used):
                return
        except SummaryRejected as rejection:
            status, code = CompressionStatus.REFUSED, rejection.code
        except ModelFailed as failure:
            logger.warning("%s attempt %s model %s failed: %s", held, held.attempt, _model_name(job), failure)
            status, code = CompressionStatus.FAILED, failure.code
            upstream_error = failure.redacted().upstream_error
        except TimeoutError:
            status, code = CompressionStatus.FAILED, "deadline_exceeded"
        except Session.DoesNotExist:
            logger.info("%s: its session was deleted", held)
            return
        except Exception:
            logger.exception("%s failed", held)
            status, code = CompressionStatus.FAILED, "internal_error"
        usage = total_usage(used)
        await self._database.call_with_retry(
            compression_requests.end_without_summary, held, status, code, usage, upstream_error
        )

    async def _summarise(self, held: Compression, job: CompressionJob, used: list[UsageOfModel]) -> bool:
        """Write and store the summary. Returns False if this attempt no longer has the row."""
        reach("before_summary_asked")
        try:
            written = await self._ask_model(held, job, used)
        except SummaryRejected as rejection:
            if job.otherwise is None:
                raise
            logger.warning("%s: the summary of %s was refused: %s", held, job.summariser, rejection.code)
            job = job.otherwise
            written = await self._ask_model(held, job, used)
        reach("before_summary_stored")
        usage = total_usage(used)
        new = new_summary(job, written)
        stored = await self._database.call_with_retry(compression_requests.finish, held, new, usage)
        reach("after_summary_stored")
        return stored is not None

    async def _ask_model(
        self, held: Compression, job: CompressionJob, used: list[UsageOfModel]
    ) -> WrittenSummary:
        """Ask the model for the summary.
        used: the usage of its requests is appended, even if the summary is rejected."""
        task = SideTask(
            Purpose.SUMMARY,
            held.session_id,
            job.summariser,
            compression=held.pk,
            attempt=held.attempt,
        )
        models = LanguageModels(connections=CONNECTIONS, silence_s=settings.LLM_SILENCE_S)
        usage = UsageOfModel(job.summariser, [])
        used.append(usage)
        recording = RecordingModels(models, task, self._database, usage.requests)
        try:
            return await compress_chat_history(job.request, recording)
        finally:
            await models.close()
            await close_async_redis()


def _model_name(job: CompressionJob | None) -> str:
    return job.request.model.name if job else ""


def start_job(held: Compression) -> CompressionJob | None:
    """Measure the branch and record that the compression has started. Returns None if there is nothing to do."""
    job = plan_job(held)
    if job is None:
        return None
    is_held = compression_requests.start(
        held,
        tokens_before=job.params.history_tokens,
        reserved_tokens=job.reserved_tokens,
        history_window=job.params.history_window,
    )
    return job if is_held else None


def release(held: Compression) -> None:
    """Return the compression to the queue, for another worker."""
    if held.release():
        compression_requests.enqueue(held.pk)


def new_summary(job: CompressionJob, written: WrittenSummary) -> NewSummary:
    return NewSummary(UUID(job.cutoff), written.text, written.tokens, job.tokens_after(written.tokens))


def total_usage(used: Sequence[UsageOfModel]) -> CompressionUsage:
    """Sum the usage; the cost is None if a price or a count is unknown."""
    requests = [usage for each in used for usage in each.requests]
    prompt = min(MAX_TOKENS, sum(usage.prompt_tokens or 0 for usage in requests))
    completion = min(MAX_TOKENS, sum(usage.completion_tokens or 0 for usage in requests))
    estimated = min(MAX_TOKENS, sum(usage.estimated_tokens or 0 for usage in requests))
    # The first usage of each model tells whether its prices are known, even if no request was answered.
    costs = [each.config.cost_of(usage) for each in used for usage in (TokenUsage(0, 0), *each.requests)]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known, Decimal()) if costs and len(known) == len(costs) else None
    return CompressionUsage(prompt, completion, cost, estimated)
