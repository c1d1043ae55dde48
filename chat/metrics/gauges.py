"""What is true right now, read from Postgres: live runs and how long the oldest waits. Ended runs are counted instead:
a query over them would grow with history.
"""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from django.db import DatabaseError, close_old_connections
from django.db.models import Count, Min, Value
from django.db.models.functions import Coalesce, Now
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from psycopg_pool import PoolTimeout

from chat.models import Run
from chat.protocol.states import Status
from chat.protocol.tasks import DEFAULT_QUEUE

# However many ask, Postgres is asked this often.
FRESH_S: Final = 5.0
# Long before the pool gives up on a Postgres that is away, and before Prometheus gives up on us.
PATIENCE_S: Final = 3.0

_asking = ThreadPoolExecutor(1, thread_name_prefix="gauges")
_lock = threading.Lock()
_latest: tuple[float, "Future[list[Metric]]"] | None = None


def gauges() -> list[Metric]:
    """At most FRESH_S old; empty when Postgres does not answer."""
    try:
        return _ask().result(timeout=PATIENCE_S)
    except (TimeoutError, DatabaseError, PoolTimeout):
        return []


def read() -> list[Metric]:
    """Ask Postgres now."""
    runs = GaugeMetricFamily("turnwire_runs", "Runs that have not ended.", labels=["status", "model"])
    live = Run.objects.live().order_by().values_list("status", "model")
    for status, model, number in live.annotate(number=Count("pk")):
        runs.add_metric([status, model], number)
    age = GaugeMetricFamily(
        "turnwire_queue_age_seconds", "How long the oldest run waits for a worker.", labels=["queue"]
    )
    waiting = Run.objects.unblocked().filter(status=Status.QUEUED).order_by()
    queue = Coalesce("model_config__queue", Value(DEFAULT_QUEUE))
    ages = {DEFAULT_QUEUE: 0.0} | {
        name: waited.total_seconds()
        for name, waited in waiting.values_list(queue).annotate(waited=Now() - Min("queued_at"))
    }
    for name, seconds in ages.items():
        age.add_metric([name], max(0.0, seconds))
    return [runs, age]


def _ask() -> "Future[list[Metric]]":
    """The latest question, or a new one once its answer is old."""
    global _latest
    with _lock:
        now = time.monotonic()
        if _latest is None or (_latest[1].done() and now - _latest[0] > FRESH_S):
            _latest = now, _asking.submit(_read_and_let_go)
        return _latest[1]


def _read_and_let_go() -> list[Metric]:
    try:
        return read()
    finally:
        close_old_connections()
