"""What the sweeper does for compressions: those of dead workers are given to others, those whose message was lost are
sent again. Everything here may run twice, and beside live workers.
"""

import logging

from chat.compressions import requests as compression_requests
from chat.models import Compression, CompressionStatus
from chat.protocol.tasks import COMPRESSION_QUEUE
from chat.runs.task_queue import queue_length

logger = logging.getLogger(__name__)


def take_over() -> int:
    """Returns how many were held by workers that have been silent for too long."""
    taken = [one for one in Compression.objects.dead() if _take(one)]
    return len(taken)


def wake() -> int:
    """Returns how many were sent again. Raises one of enqueueing.UNREACHABLE.

    While the queue has messages, the workers are simply busy, and sending again would only make it longer.
    """
    unclaimed = list(Compression.objects.unclaimed())
    if not unclaimed or queue_length(COMPRESSION_QUEUE):
        return 0
    for one in unclaimed:
        compression_requests.enqueue(one.pk)
    return len(unclaimed)


def _take(dead: Compression) -> bool:
    if not dead.has_failures_left:
        return compression_requests.end_without_summary(dead, CompressionStatus.FAILED, "worker_lost")
    if not dead.take_from_dead_owner():
        return False
    logger.warning("%s: taken from dead owner %s", dead, dead.owner)
    compression_requests.enqueue(dead.pk)
    return True
