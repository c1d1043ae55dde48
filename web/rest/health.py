"""Liveness and readiness probes for load balancers and the launcher, outside /api/."""

from collections.abc import Callable
from typing import Final

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from psycopg_pool import PoolTimeout

from chat.metrics.gauges import accepts_writes
from chat.runs.task_queue import UNREACHABLE, check_writable, ping_broker
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
