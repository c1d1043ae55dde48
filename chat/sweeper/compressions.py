"""Repairs compressions: requeues those of dead workers, and sends lost queue messages again.

Idempotent, and safe beside live workers and other sweepers.
"""

import logging

from chat.compressions import requests as compression_requests
from chat.models import Compression, CompressionStatus
from chat.protocol.tasks import COMPRESSION_QUEUE
from chat.runs.task_queue import queue_length
from chat.sweeper.periodic import attempt_repair

logger = logging.getLogger(__name__)


def take_over() -> int:
    """Requeue or fail the compressions of dead workers; return how many."""
    return sum(
        attempt_repair(f"compression {dead.pk}", _take_over, dead)
        for dead in Compression.objects.dead().unlocked()
    )


def enqueue_lost() -> int:
    """Send the messages of unclaimed compressions again; return how many. Raises one of task_queue.UNREACHABLE.

    Only if the queue is empty: otherwise the workers are busy, and no message has been lost.
    """
    unclaimed = list(Compression.objects.unclaimed())
    if not unclaimed or queue_length(COMPRESSION_QUEUE):
        return 0
    for compression in unclaimed:
        compression_requests.enqueue(compression.pk)
    return len(unclaimed)


def _take_over(dead: Compression) -> bool:
    if not dead.has_failures_left:
        return compression_requests.end_without_summary(dead, CompressionStatus.FAILED, "worker_lost")
    if not dead.take_from_dead_owner():
        return False
    logger.warning("%s: taken from dead owner %s", dead, dead.owner)
    compression_requests.enqueue(dead.pk)
    return True
