"""This process's compressions: each claimed, kept by a beat, asked for, and ended exactly once.

Every one has an event loop of its own in the Celery thread that brought it: they are few, and last for seconds.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from chat.compressions import requests as compression_requests
from chat.compressions.requests import CompressionUsage, NewSummary
from chat.infrastructure.fault_points import reach
from chat.infrastructure.liveness import new_owner
from chat.models import Compression, CompressionStatus, Session
from chat.models.lease import COMPRESSION_LEASE
from chat.transcript.tokens import count_tokens
from compression.cost import spent
from compression.measurement import Case, case_of
from compression.summarise import Metered, Refused, Summarised, compress_chat_history
from llm_worker.database import Database
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels

logger = logging.getLogger(__name__)

# One request at a time; the second connection is for a retry beside one that is still being closed.
CONNECTIONS = 2


class Carrier:
    """`carry_out` may be called from any number of threads, `leave` from a signal handler."""

    def __init__(self) -> None:
        self.owner = new_owner()
        self._database = Database()
        self._leaving = threading.Event()
        self._cuts: set[Callable[[], Any]] = set()

    def carry_out(self, compression_id: str) -> None:
        """Returns when it has ended, was put back, or was not ours to take."""
        asyncio.run(self._carry_out(compression_id))

    def leave(self) -> None:
        """Claim nothing more, and put back what is in hand."""
        self._leaving.set()
        for cut in list(self._cuts):
            cut()

    def close(self) -> None:
        self._database.close()

    async def _carry_out(self, compression_id: str) -> None:
        if self._leaving.is_set():
            return  # the sweeper sends it again
        held = await self._database.call_with_retry(Compression.objects.claim, compression_id, self.owner)
        if held is None:
            logger.debug("compression %s is not ours to take", compression_id)
            return
        reach("after_compression_claim")
        work = asyncio.create_task(self._bring_to_an_end(held))
        beat = asyncio.create_task(self._keep_beating(held, work))
        loop = asyncio.get_running_loop()
        cut = partial(loop.call_soon_threadsafe, work.cancel)
        self._cuts.add(cut)
        try:
            if self._leaving.is_set():  # since the claim
                work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        finally:
            self._cuts.discard(cut)
            beat.cancel()
        if work.cancelled() and self._leaving.is_set():
            await self._database.call_with_retry(put_back, held)

    async def _keep_beating(self, held: Compression, work: asyncio.Task[None]) -> None:
        """Lets go of what is not ours any more; while Postgres is away the end is tried until it is refused."""
        while True:
            await asyncio.sleep(COMPRESSION_LEASE.beat_s)
            try:
                if not await self._database.call(held.extend_lease):
                    work.cancel()
            except DatabaseError as error:
                logger.warning("%s: no beat: %s", held, error)

    async def _bring_to_an_end(self, held: Compression) -> None:
        """The process edge of one compression: whatever happens in it ends it alone."""
        status, code = CompressionStatus.NOTHING, ""
        used: list[Any] = []
        case: Case | None = None
        try:
            case = await self._database.call_with_retry(begin, held)
            if case and await self._summarised(held, case, used):
                return
        except Refused as refusal:
            status, code = CompressionStatus.REFUSED, refusal.code
        except ModelFailed as failure:
            status, code = CompressionStatus.FAILED, failure.code
        except TimeoutError:
            status, code = CompressionStatus.FAILED, "deadline_exceeded"
        except Session.DoesNotExist:
            logger.info("%s: its session is gone", held)
            return
        except Exception:
            logger.exception("%s failed", held)
            status, code = CompressionStatus.FAILED, "internal_error"
        costs = spent(used, case.summariser if case else None)
        await self._database.call_with_retry(
            compression_requests.end_without_summary, held, status, code, costs
        )

    async def _summarised(self, held: Compression, case: Case, used: list[Any]) -> bool:
        """Ask and store. False: it is not held any more."""
        reach("before_summary_asked")
        made = recalled(case) or await _ask(case, used)
        reach("before_summary_stored")
        costs = spent(used, case.summariser)
        if case.is_ahead:
            return await self._database.call_with_retry(keep, held, case, made, costs)
        stored = await self._database.call_with_retry(
            compression_requests.finish, held, of(case, made), costs
        )
        reach("after_summary_stored")
        return stored is not None


async def _ask(case: Case, used: list[Any]) -> Summarised:
    models = LanguageModels(connections=CONNECTIONS, silence_s=settings.LLM_SILENCE_S)
    try:
        async with asyncio.timeout(settings.RUN_DEADLINE_S):
            return await compress_chat_history(case.work, Metered(models, used))
    finally:
        await models.close()


def begin(held: Compression) -> Case | None:
    """Measure, and tell if there is something to do. None: there is not."""
    case = case_of(held)
    if case is None:
        return None
    params, reserved = case.params, case.reserved_tokens
    if case.is_ahead:  # nobody hears of it
        is_held = held.measured(params.history_tokens, reserved, params.history_window)
    else:
        is_held = compression_requests.start(
            held,
            tokens_before=params.history_tokens,
            reserved_tokens=reserved,
            history_window=params.history_window,
        )
    return case if is_held else None


def put_back(held: Compression) -> None:
    if held.release():
        compression_requests.enqueue(held.pk)


def recalled(case: Case) -> Summarised | None:
    """What was written ahead of time."""
    return Summarised(case.written, count_tokens(case.written)) if case.written else None


def keep(held: Compression, case: Case, made: Summarised, costs: CompressionUsage) -> bool:
    """Outside the tree, until the history has grown to need it. False: it is not held any more."""
    kept = {"prepared_text": made.text, "prepared_cutoff_id": case.cutoff, **asdict(costs)}
    return held.end(CompressionStatus.PREPARED, **kept)


def of(case: Case, made: Summarised) -> NewSummary:
    return NewSummary(case.cutoff, made.text, made.tokens, case.tokens_after(made.tokens))
