"""Celery settings. Postgres records which runs are queued; a task message only makes a worker claim its run.

Messages may therefore be lost or delivered twice: only the first worker to claim a run executes it.
"""

from django.conf import settings
from kombu import Queue

from chat.protocol.tasks import COMPRESSION_QUEUE, DEFAULT_QUEUE, INGEST_QUEUE
from config import redis_transport  # noqa: F401  registers what serves rediss://
from config.broker_tls import broker_options

broker_url, broker_use_ssl = broker_options(settings.CELERY_BROKER_URL)
# Queues named only by a ModelConfig are declared when a task is sent to them or a worker consumes them.
task_queues = [Queue(DEFAULT_QUEUE), Queue(COMPRESSION_QUEUE), Queue(INGEST_QUEUE)]
task_default_queue = DEFAULT_QUEUE

# A message is acknowledged when its run has ended, and requeued when the worker is lost.
task_acks_late = True
task_reject_on_worker_lost = True
# A worker reserves no message beyond the ones it executes: another worker may be idle.
worker_prefetch_multiplier = 1
worker_disable_prefetch = True

# No results: the output of a run is in the database and in its packet log.
task_serializer = "json"
accept_content = ["json"]
task_ignore_result = True
task_store_errors_even_if_ignored = False

# Runs continue while the connection to the broker is lost: an unacknowledged task message does no harm.
worker_cancel_long_running_tasks_on_connection_loss = False
worker_consumer = "config.celery_consumer:Consumer"
worker_send_task_events = False
broker_connection_retry_on_startup = True
broker_connection_max_retries = None
# With it, the thread of a task asks RabbitMQ for its former limit after a reconnect, and reads the reply from the socket that the
# main thread reads: each gets parts of frames, and the worker takes nothing until RabbitMQ closes the connection.
worker_enable_prefetch_count_reduction = False

# Twice the longest turn. An earlier redelivery would do no harm, because the claim fails, but it would be useless.
VISIBILITY_TIMEOUT_S = max(3600, 2 * settings.RUN_DEADLINE_S)
_IS_REDIS = broker_url.startswith(("redis", "rediss", "unix"))
if broker_url.startswith("redis://"):  # kombu derives TLS and socket options from the other schemes
    broker_transport = "config.redis_transport:Transport"
broker_channel_error_retry = True  # celery_consumer.py ends the worker after errors that stay
broker_transport_options = (
    {
        "visibility_timeout": VISIBILITY_TIMEOUT_S,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "health_check_interval": 5,
        "socket_timeout": 10,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
    }
    if _IS_REDIS
    else {}
)
