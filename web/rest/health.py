"""Probes for load balancers and the launcher, and GET /metrics for Prometheus, outside /api/."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, get_args

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError

from chat.metrics import presence, tally
from chat.metrics.gauges import accepts_writes, gauges, up_gauge
from chat.protocol.tasks import COMPRESSION_QUEUE, INGEST_QUEUE
from chat.runs.task_queue import UNREACHABLE, check_writable, ping_broker
from web.rest.errors import error_response
from web.rest.operators import is_operator

UNAVAILABLE: Final = (DatabaseError, PoolTimeout, *UNREACHABLE)


class ReadOnly(DatabaseError):
    """Postgres answers, and refuses writes."""


@require_safe
def live(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 if Postgres and Redis accept writes, the broker responds and all migrations are applied, else 503.
    For operators the body names each check.
    """
    checks = {
        "postgres": _run_check(_check_postgres),
        "redis": _run_check(check_writable),
        "broker": _run_check(ping_broker),
        "migrations": _run_check(_check_migrations),
    }
    is_ready = set(checks.values()) == {"ok"}
    status = 200 if is_ready else 503
    details = checks if _is_operator(request) else {}
    return JsonResponse({"status": "ok" if is_ready else "unavailable", **details}, status=status)


def _is_operator(request: HttpRequest) -> bool:
    """Return whether an operator asks. While Postgres is unavailable, only the token can prove it."""
    try:
        return is_operator(request)
    except UNAVAILABLE:
        return False


def _run_check(check: Callable[[], object]) -> str:
    try:
        check()
    except ReadOnly:
        return "read_only"
    except UNAVAILABLE:
        return "unavailable"
    return "ok"


def _check_postgres() -> None:
    if not accepts_writes():
        raise ReadOnly


def _check_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise DatabaseError("there are migrations to apply")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics. Except in development, this needs METRICS_TOKEN or a login of staff.
    With the token it works without Redis and Postgres.
    """
    if not is_operator(request):
        return error_response(request, 403)
    return HttpResponse(generate_latest(DeploymentCollector()), content_type=CONTENT_TYPE_LATEST)


class DeploymentCollector(Collector):
    """A collector of the rows in Postgres, and of the counts of all processes in Redis."""

    def collect(self) -> Iterator[Metric]:
        stored = gauges()
        yield from stored
        is_redis_up = False
        # Numbers are read from a replica as well.
        with suppress(RedisError):
            yield from (*tally.sums(), *_process_gauges(_queues(stored)))
            check_writable()
            is_redis_up = True
        yield up_gauge("redis", is_up=is_redis_up)


def _queues(stored: Sequence[Metric]) -> set[str]:
    """Return all queues, including those without readers: an alert on a series that disappears does not resolve."""
    waiting = [
        sample for family in stored if family.name == "turnwire_queued_runs" for sample in family.samples
    ]
    return {COMPRESSION_QUEUE, INGEST_QUEUE, *(sample.labels["queue"] for sample in waiting)}


def _process_gauges(queues: Iterable[str]) -> list[Metric]:
    live = presence.live_processes()
    processes = GaugeMetricFamily("turnwire_processes", "Processes that live, by role.", labels=["role"])
    for role in get_args(presence.Role):
        processes.add_metric([role], sum(process.role == role for process in live))
    sockets = sum(process.sockets for process in live)
    return [
        processes,
        GaugeMetricFamily("turnwire_sockets", "Open websockets.", value=sockets),
        *_pool_gauges(presence.pools(live, queues)),
    ]


def _pool_gauges(pools: Sequence[presence.Pool]) -> list[Metric]:
    """Return gauges by which a pool may be scaled: its slots and how many are in use.
    The number of waiting runs (turnwire_queued_runs) completes them.
    """
    meanings = {
        "workers": "Workers that take tasks of the queue.",
        "slots": "Tasks that they take side by side.",
        "busy": "Tasks that they have.",
        "draining": "Workers that finish what they have and take no more.",
    }
    gauges = [
        GaugeMetricFamily(f"turnwire_queue_{name}", meaning, labels=["queue"])
        for name, meaning in meanings.items()
    ]
    for pool in pools:
        for name, gauge in zip(meanings, gauges, strict=True):
            gauge.add_metric([pool.queue], getattr(pool, name))
    return list(gauges)
