"""The Celery task of webhooks, which the llm workers have."""

from celery import shared_task

from features.webhooks.turn_part import DELIVER_WEBHOOKS
from features.webhooks.worker_part import WebhookWorker
from llm_worker.attempt import runtime
from llm_worker.attempt.attempt import WorkerServices
from llm_worker.worker_part import part_of


@shared_task(name=DELIVER_WEBHOOKS)
def deliver_webhooks(**_later: object) -> None:
    """Have the process look for due deliveries now. They keep no thread of runs."""
    runtime.current().run_beside(_wake)


async def _wake(services: WorkerServices) -> None:
    part_of(services.parts, WebhookWorker).wake()
