"""Waking the workers: one Celery message per run, sent after the commit.

Postgres already holds that the run must happen; a lost message delays it, it does not lose it.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final
from uuid import uuid4

from celery import current_app
from celery.utils import nodenames
from django.conf import settings
from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.tasks import RUN_TURN

# A send is refused within a second when Redis is away; connecting and the answer get half of it each.
REACHABLE_TIMEOUT_S: Final = 0.4
# What a broker that is away looks like.
UNREACHABLE: Final = (OperationalError, RedisError, OSError)
# One more try, at once: the broker was reachable a moment ago.
PUBLISH_RETRY: Final = {"max_retries": 1, "interval_start": 0.1, "interval_step": 0, "interval_max": 0.1}
# Of every message; ours are neither repeated by Celery nor chained.
_EMBEDDED: Final = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
_HEADERS: Final = {
    "lang": "py",
    "argsrepr": "()",
    "retries": 0,
    "timelimit": (None, None),
    "ignore_result": True,
    "parent_id": None,
    "group": None,
    "eta": None,
    "expires": None,
    "origin": nodenames.anon_nodename(),
}


def check_reachable() -> None:
    """Refuse a turn whose packets could not be delivered, before anything is stored."""
    try:
        ping()
    except RedisError:
        raise ApiError("stream_unavailable") from None


def ping() -> None:
    """Raises RedisError, soon, when Redis does not answer."""
    _fast_failing_client().ping()


@cache
def _fast_failing_client() -> Redis:
    """A client of its own: what waits for packets may be patient, a person who sends may not."""
    return Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=REACHABLE_TIMEOUT_S,
        socket_timeout=REACHABLE_TIMEOUT_S,
        # Once more at once: after a restart of Redis the pooled connection is dead, a new one is fine.
        retry=Retry(NoBackoff(), 1),
    )


def enqueue_on_commit(runs: Sequence[Run]) -> None:
    # robust: a broker that went away just now must not turn an accepted message into an error.
    for run in runs:
        transaction.on_commit(partial(enqueue, str(run.pk), run.queue), robust=True)


def enqueue(run_id: str, queue: str, task: str = RUN_TURN) -> None:
    send(task, queue, run_id=run_id)


def send(task: str, queue: str, **ids: str) -> None:
    """One Celery message. Raises one of UNREACHABLE.

    Written here (docs.celeryq.dev, "Message Protocol", version 2): what Celery's send_task works out each time is the
    same for all of ours, and costs more than sending it.
    """
    pk = str(uuid4())
    with current_app.producer_or_acquire() as producer:
        producer.publish(
            ((), ids, _EMBEDDED),
            routing_key=queue,
            declare=[current_app.amqp.queues[queue]],
            serializer="json",
            headers={**_HEADERS, "task": task, "id": pk, "root_id": pk, "kwargsrepr": repr(ids)},
            correlation_id=pk,
            retry=True,
            retry_policy=PUBLISH_RETRY,
        )


def queue_length(queue: str) -> int:
    """How many messages the broker holds for this queue. Raises one of UNREACHABLE."""
    with current_app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=1)
        channel: Any = connection.default_channel
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except ChannelError:
            return 0  # brokers forget empty queues
