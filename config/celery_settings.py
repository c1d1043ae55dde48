"""How tasks travel. Postgres holds that a run must happen; a task message only wakes a worker up.

A message may therefore be lost or arrive twice: whoever claims the run first has it, and the others return.
"""

from django.conf import settings
from kombu import Queue

from chat.protocol.tasks import COMPRESSION_QUEUE, DEFAULT_QUEUE

broker_url = settings.CELERY_BROKER_URL
# Queues that only a ModelConfig names are made when something is sent to them or a worker asks for them.
task_queues = [Queue(DEFAULT_QUEUE), Queue(COMPRESSION_QUEUE)]
task_default_queue = DEFAULT_QUEUE

# Acknowledged when the run has ended, and given back when the worker dies.
task_acks_late = True
task_reject_on_worker_lost = True
# A worker holds no message that it does not work on: another worker may be idle.
worker_prefetch_multiplier = 1
worker_disable_prefetch = True

# JSON in, nothing out: what a run produces is in the database and in its packet log.
task_serializer = "json"
accept_content = ["json"]
task_ignore_result = True
task_store_errors_even_if_ignored = False

# While the broker is away the runs go on: their packets and their end need it, the task message does not.
worker_cancel_long_running_tasks_on_connection_loss = False
worker_consumer = "config.celery_consumer:Consumer"
worker_send_task_events = False
broker_connection_retry_on_startup = True
broker_connection_max_retries = None

# Twice the longest turn: redelivery of a message that is being worked on would only be refused by the claim.
VISIBILITY_TIMEOUT_S = max(3600, 2 * settings.RUN_DEADLINE_S)
_IS_REDIS = broker_url.startswith(("redis", "rediss", "unix"))
if broker_url.startswith("redis://"):  # with the others, kombu reads more from the scheme
    broker_transport = "config.redis_transport:Transport"
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
