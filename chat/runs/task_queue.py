"""Sends the Celery messages that start background work, and checks that Redis and the broker can be reached.

A lost message only delays a run or a file: its row in Postgres remains, and the sweeper sends the message again.
"""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from celery import current_app
from django.conf import settings
from kombu.exceptions import ChannelError, OperationalError
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from chat.infrastructure.background import call_after_commit
from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.tasks import COMPUTE_VECTORS, EXTRACT_FILE, INGEST_QUEUE, RUN_TURN

logger = logging.getLogger(__name__)

# A send is refused within a second while Redis is unreachable: connecting and the reply get 0.4 s each.
REACHABLE_TIMEOUT_S: Final = 0.4
BROKER_TIMEOUT_S: Final = 1
_WRITTEN: Final = "turnwire:writable"
# The exceptions of a broker that is unreachable, or refuses a queue (ChannelError, of RabbitMQ).
UNREACHABLE: Final = (OperationalError, ChannelError, RedisError, OSError)
# One retry at once: check_reachable has just succeeded.
PUBLISH_RETRY: Final = {"max_retries": 1, "interval_start": 0.1, "interval_step": 0, "interval_max": 0.1}


def describe_outage(error: Exception) -> str:
    """Return a sentence that describes the outage for one of UNREACHABLE. The broker may be Redis, too."""
    if isinstance(error, ChannelError):
        return "The broker refuses task messages (docs/operations.md: rights and kinds of queues)"
    return f"{'Redis' if isinstance(error, RedisError) else 'The broker of task messages'} is unreachable"


def check_reachable() -> None:
    """Raise ApiError if Redis accepts no packets.
    Called before a turn is stored whose packets could not be delivered."""
    try:
        check_writable()
    except RedisError:
        raise ApiError("stream_unavailable") from None


def check_writable() -> None:
    """Raise RedisError within a second if Redis refuses a write. A replica or a full server would reply to PING."""
    _fast_failing_client(settings.REDIS_URL).set(_WRITTEN, 1, ex=60)


def ping_broker() -> None:
    """Raise one of UNREACHABLE within seconds if the broker of task messages does not reply."""
    if _is_redis_broker():
        _fast_failing_client(settings.CELERY_BROKER_URL).ping()
        return
    with current_app.connection_for_write(connect_timeout=BROKER_TIMEOUT_S) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_TIMEOUT_S)


def _is_redis_broker() -> bool:
    return not settings.CELERY_BROKER_URL.startswith("amqp")


@cache
def _fast_failing_client(url: str) -> Redis:
    """Return the process's client of this server, with shorter timeouts than the shared one, since a user waits."""
    return Redis.from_url(
        url,
        socket_connect_timeout=REACHABLE_TIMEOUT_S,
        socket_timeout=REACHABLE_TIMEOUT_S,
        # One retry at once: after a restart of Redis the pooled connection is closed and a new one works.
        retry=Retry(NoBackoff(), 1),
    )


def enqueue_on_commit(runs: Sequence[Run]) -> None:
    """Wake workers once the runs are stored. The sweeper later enqueues runs that the broker does not accept."""
    for run in runs:
        call_after_commit(_enqueue_stored, str(run.pk), run.queue)


def _enqueue_stored(run_id: str, queue: str) -> None:
    try:
        enqueue(run_id, queue)
    except UNREACHABLE as error:
        logger.warning("run %s: not enqueued yet, the sweeper does it: %s", run_id, error)


def enqueue(run_id: str, queue: str, task: str = RUN_TURN) -> None:
    """Wake a worker for a task of the run. Raises one of UNREACHABLE."""
    send_message(task, queue, run_id=run_id)


def send_message(task: str, queue: str, **ids: str) -> None:
    """Send one Celery message. Raises one of UNREACHABLE."""
    current_app.send_task(
        task, kwargs=ids, queue=queue, ignore_result=True, retry=True, retry_policy=PUBLISH_RETRY
    )


def enqueue_file(file_id: str) -> None:
    """Wake a process that extracts texts. Without the broker, the sweeper does it later."""
    try:
        send_message(EXTRACT_FILE, INGEST_QUEUE, file_id=file_id)
    except UNREACHABLE as error:
        logger.warning("file %s: not enqueued yet, the sweeper does it: %s", file_id, error)


def enqueue_vectors() -> None:
    """Wake a process that computes vectors. Without the broker, the sweeper does it later."""
    try:
        send_message(COMPUTE_VECTORS, INGEST_QUEUE)
    except UNREACHABLE as error:
        logger.warning("vectors: not enqueued yet, the sweeper does it: %s", error)


def queue_length(queue: str) -> int:
    """Return the number of messages in the queue. Raises one of UNREACHABLE."""
    if _is_redis_broker():
        # The list of kombu's transport for messages without a priority, which ours are.
        return _fast_failing_client(settings.CELERY_BROKER_URL).llen(queue)
    with current_app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=1)
        channel: Any = connection.default_channel
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except ChannelError:
            return 0  # nothing has declared the queue yet
