"""Stores each request beside the answers (titles, summaries, safe summaries) and its use, once answered or failed."""

import asyncio
import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from msgspec import json

from chat.metrics import counters
from chat.models import DailyUse, ModelConfig, SideRequest
from chat.models.model_requests import COUNTED_FOR_A_SAFE_SUMMARY, Purpose
from chat.transcript.tokens import count_tokens
from chat.transcript.usage import TokenUsage
from llm_worker.database import Database
from llm_worker.request.model_message import total_tokens
from llm_worker.side_requests.kept_messages import encode_messages
from llm_worker.stream.sanitiser import clean
from llm_worker.upstream.chat_completion import Completion, CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.redaction import describe

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SideTask:
    """The purpose of requests. run: for titles, safe summaries and rewrites.  compression: for summaries.

    config: of the model that is asked.
    """

    purpose: Purpose
    session: UUID
    config: ModelConfig
    run: UUID | None = None
    compression: UUID | None = None
    attempt: int = 1


@dataclass(frozen=True)
class SentSideRequest:
    """A request. id: the same however often the row is written.  completion: None if it failed with error_code."""

    request: Request
    number: int
    sent_at: datetime
    completion: Completion | None = None
    error_code: str = ""
    id: UUID = field(default_factory=uuid4)


class RecordingModels:
    """Forwards the requests of one task and stores each."""

    def __init__(
        self,
        models: CompletionClient,
        task: SideTask,
        database: Database,
        used: list[TokenUsage] | None = None,
    ) -> None:
        """Prepare to record. used: the usage of each answered request is appended to it."""
        self._models = models
        self._task = task
        self._database = database
        self._number = 0
        self._used: list[TokenUsage] = [] if used is None else used

    async def complete(self, request: Request) -> Completion:
        """Forward a request and store it. Raises ModelFailed; TimeoutError after request.limit_s."""
        self._number += 1
        sent = SentSideRequest(request, self._number, datetime.now(UTC))
        try:
            completion = await self._models.complete(request)
        except ModelFailed as failure:
            await self._store(replace(sent, error_code=failure.code))
            raise
        except (asyncio.CancelledError, TimeoutError):
            await self._store(replace(sent, error_code="cancelled"))
            raise
        completion = replace(completion, usage=counted_usage(request, completion, self._task.config))
        self._used.append(completion.usage)
        counters.side_request_answered(self._task.purpose, self._task.config.name, completion.usage)
        await self._store(replace(sent, completion=completion))
        return completion

    async def _store(self, sent: SentSideRequest) -> None:
        await self._database.call_with_retry(save_side_request, self._task, sent)


def counted_usage(request: Request, completion: Completion, config: ModelConfig) -> TokenUsage:
    """Return the usage that the server reported; missing counts are estimated."""
    prompt = int(total_tokens(request.sent_messages) * config.estimate_factor)
    return completion.usage.completed(prompt, lambda: count_tokens(completion.text))


def save_side_request(task: SideTask, sent: SentSideRequest) -> None:
    """Store a request, in a database thread. Idempotent. Nothing is stored if its session was deleted meanwhile."""
    completion = sent.completion or Completion("")
    counted = completion.usage
    if sent.completion and task.purpose == Purpose.SAFE_SUMMARY:
        counted = COUNTED_FOR_A_SAFE_SUMMARY
    is_kept = settings.KEEP_REQUESTS_HOURS > 0
    row = SideRequest(
        id=sent.id,
        purpose=task.purpose,
        session_id=task.session,
        run_id=task.run,
        compression_id=task.compression,
        attempt=task.attempt,
        number=sent.number,
        model=task.config.name,
        sent_at=sent.sent_at,
        error_code=sent.error_code,
        finish_reason=clean(completion.finish_reason)[:40],
        messages=json.decode(encode_messages(sent.request.shown_messages)) if is_kept else None,
        reply=_shown_reply(sent.request, completion.text) if is_kept else "",
        cost=task.config.cost_of(completion.usage),
        **completion.usage._asdict(),
    )
    try:
        with transaction.atomic():
            if not SideRequest.objects.filter(pk=sent.id).exists():  # an earlier call's reply was lost
                SideRequest.objects.bulk_create([row])
                DailyUse.objects.add(task.session, task.run, counted, task.config.cost_of(counted))
    except IntegrityError:
        logger.info("%s of session %s: it was deleted, its request is not stored", task.purpose, task.session)


def _shown_reply(request: Request, reply: str) -> str:
    return json.encode(describe(reply)).decode() if request.is_protected and reply else clean(reply)
