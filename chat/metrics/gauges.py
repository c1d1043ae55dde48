"""Gauges read from Postgres: whether it accepts writes, live runs, and how long the oldest queued run has waited.

Ended runs are counted instead (counters.py), because a query over them would grow with history.
"""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from django.db import DatabaseError, close_old_connections, connection
from django.db.models import Count, Min, Value
from django.db.models.functions import Coalesce, Now
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from psycopg_pool import PoolTimeout

from chat.models import ModelConfig, Run
from chat.protocol.states import Status
from chat.protocol.tasks import DEFAULT_QUEUE

# Minimum interval between two queries, for any number of requests.
MAX_AGE_S: Final = 5.0
# Shorter than the timeouts of the connection pool and of Prometheus.
TIMEOUT_S: Final = 3.0

_executor = ThreadPoolExecutor(1, thread_name_prefix="gauges")
_lock = threading.Lock()
_latest: tuple[float, "Future[list[Metric]]"] | None = None


def gauges() -> list[Metric]:
    """Return the gauges, at most MAX_AGE_S old; only that it is not up if Postgres does not answer."""
    try:
        return _latest_read().result(timeout=TIMEOUT_S)
    except (TimeoutError, DatabaseError, PoolTimeout):
        return [up_gauge("postgres", is_up=False)]


def read() -> list[Metric]:
    """Read the gauges from Postgres now."""
    runs = GaugeMetricFamily("turnwire_runs", "Runs that have not ended.", labels=["status", "model"])
    live = Run.objects.live().order_by().values_list("status", "model")
    for status, model, number in live.annotate(number=Count("pk")):
        runs.add_metric([status, model], number)
    age = GaugeMetricFamily(
        "turnwire_queue_age_seconds", "How long the oldest run waits for a worker.", labels=["queue"]
    )
    waiting = Run.objects.unblocked().filter(status=Status.QUEUED).order_by()
    queue = Coalesce("model_config__queue", Value(DEFAULT_QUEUE))
    # Queues in which nothing waits are included: an alert on a series that disappears does not resolve.
    queues = ModelConfig.objects.order_by().values_list("queue", flat=True).distinct()
    waits = dict.fromkeys([DEFAULT_QUEUE, *queues], (0, 0.0)) | {
        name: (number, waited.total_seconds())
        for name, number, waited in waiting.values_list(queue).annotate(
            number=Count("pk"), waited=Now() - Min("queued_at")
        )
    }
    queued = GaugeMetricFamily("turnwire_queued_runs", "Runs that wait for a worker.", labels=["queue"])
    for name, (number, seconds) in waits.items():
        age.add_metric([name], max(0.0, seconds))
        queued.add_metric([name], number)
    return [up_gauge("postgres", is_up=accepts_writes()), runs, age, queued]


def accepts_writes() -> bool:
    """Return whether Postgres accepts writes; a standby answers, and does not. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone() == ("off",))


def up_gauge(name: str, *, is_up: bool) -> Metric:
    meaning = f"Whether web reaches {name} and it accepts writes."
    return GaugeMetricFamily(f"turnwire_{name}_up", meaning, value=float(is_up))


def _latest_read() -> "Future[list[Metric]]":
    """Return the query in progress or its result; start a new query once the result is older than MAX_AGE_S."""
    global _latest
    with _lock:
        now = time.monotonic()
        if _latest is None or (_latest[1].done() and now - _latest[0] > MAX_AGE_S):
            _latest = now, _executor.submit(_read_and_close)
        return _latest[1]


def _read_and_close() -> list[Metric]:
    try:
        return read()
    finally:
        close_old_connections()
