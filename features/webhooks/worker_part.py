"""WebhookWorker: tells webhooks what they are to be told, beside the runs of a worker process.

Each process looks for due deliveries every few seconds, and at once when there is one: a lost message, a dead
process and a retry are the same to it. A webhook is told one event at a time by a process, so that a slow one delays
its own events alone.
"""

import asyncio
import base64
import hashlib
import hmac
import logging
import time
from contextlib import suppress
from typing import Final
from uuid import UUID

from msgspec import json

from chat.infrastructure.background import start_task
from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret
from features.webhooks.models import SIGNING_PREFIX, WebhookDelivery
from knowledge.fetching.guarded_client import GuardedRequest, RequestLimits, send
from knowledge.fetching.target import UrlRefused
from llm_worker.database import Database
from llm_worker.worker_part import WorkerPart

logger = logging.getLogger(__name__)

EVERY_S: Final = 5.0
# Of a process, side by side.
DELIVERIES_AT_ONCE: Final = 32
# The body of an answer is not read.
LIMITS: Final = RequestLimits(max_bytes=0, max_redirects=0, connect_s=5.0, read_s=15.0, total_s=15.0)


class WebhookWorker(WorkerPart):
    def __init__(self, database: Database) -> None:
        self._database = database
        self._due = asyncio.Event()
        self._in_progress: dict[UUID, asyncio.Task[None]] = {}
        self._search = start_task("webhooks", self._deliver_due)

    def wake(self) -> None:
        """Look for due deliveries now."""
        self._due.set()

    async def close(self) -> None:
        """Interrupt the deliveries: other processes repeat them."""
        tasks = [self._search, *self._in_progress.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _deliver_due(self) -> None:
        while True:
            self._due.clear()
            if room := DELIVERIES_AT_ONCE - len(self._in_progress):
                claim = WebhookDelivery.objects.claim
                for delivery in await self._database.call_with_retry(claim, [*self._in_progress], room):
                    self._begin(delivery)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), EVERY_S)

    def _begin(self, delivery: WebhookDelivery) -> None:
        def end(task: asyncio.Task[None]) -> None:
            del self._in_progress[delivery.webhook_id]
            self._due.set()
            if not task.cancelled() and (error := task.exception()):
                logger.error("webhook %s is told again later", delivery.webhook_id, exc_info=error)

        task = asyncio.create_task(deliver(delivery, self._database))
        self._in_progress[delivery.webhook_id] = task
        task.add_done_callback(end)


async def deliver(delivery: WebhookDelivery, database: Database) -> None:
    """Make the claimed attempt, and store how it ended."""
    status, error = None, ""
    try:
        request = await database.call(signed_request, delivery)
        async with send(request, LIMITS) as response:
            status = response.status
    except UrlRefused as refused:
        error = refused.code
    except EncryptionUnavailable:
        error = "encryption_unavailable"
    except UnreadableSecret:
        error = "secret_unreadable"
    except Exception:
        logger.exception("webhook %s cannot be told", delivery.webhook_id)
        error = "internal_error"
    logger.info("webhook %s was told %s: %s", delivery.webhook_id, delivery.event["id"], status or error)
    await database.call_with_retry(WebhookDelivery.objects.end_attempt, delivery, status, error)


def signed_request(delivery: WebhookDelivery) -> GuardedRequest:
    """Return the request of an attempt, as Standard Webhooks describes it. Raises EncryptionUnavailable, UnreadableSecret."""
    name, sent_at, body = delivery.event["id"], str(int(time.time())), json.encode(delivery.event)
    key = base64.b64decode(delivery.webhook.secret.removeprefix(SIGNING_PREFIX))
    digest = hmac.digest(key, b".".join((name.encode(), sent_at.encode(), body)), hashlib.sha256)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": sent_at,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    return GuardedRequest(delivery.webhook.url, "POST", headers, body)
