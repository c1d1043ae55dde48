"""Is this process alive, and can it do its work? For load balancers and the launcher; outside /api/."""

from collections.abc import Callable
from typing import Final

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError

from chat.runs.task_queue import ping

UNAVAILABLE: Final = (DatabaseError, PoolTimeout, RedisError)


@require_safe
def live(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """200 when Postgres, Redis and migrations are fine, else 503; the body says which is not."""
    checks = {"postgres": _state(_postgres), "redis": _state(ping), "migrations": _state(_migrations)}
    fine = set(checks.values()) == {"ok"}
    return JsonResponse({"status": "ok" if fine else "unavailable", **checks}, status=200 if fine else 503)


def _state(check: Callable[[], object]) -> str:
    try:
        check()
    except UNAVAILABLE:
        return "unavailable"
    return "ok"


def _postgres() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise DatabaseError("there are migrations to apply")
