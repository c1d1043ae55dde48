"""`turnwire doctor`: says what is wrong with the configuration, the services and this machine. Changes nothing.

Exits with status 1 if a finding is an error. Each measurement fails alone.
"""

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import django

from config import diagnosis, preflight
from config import environment as env
from config.diagnosis import Finding, Level

COLOURS: Final[dict[Level, str]] = {"ok": "32", "warning": "33", "error": "1;31"}
# Space for a copy of the file that is read, and for the output of the reader.
BYTES_PER_READER: Final = 300 * 2**20


def main() -> int:
    try:
        settings = configure()
    except SystemExit:
        show(Finding("error", "configuration", "the line above says which variable"))
        return 1
    worst = 0
    services = (postgres, redis, broker, migrations, processes)
    for measure in (
        (versions, system, not_running, space, proxies)
        if is_stopped(settings)
        else (versions, system, *services, space, proxies, models)
    ):
        for finding in findings_of(measure, settings):
            show(finding)
            worst = max(worst, finding.level == "error")
    return int(worst)


def configure() -> Any:
    """Return the settings. Raises SystemExit if a variable is wrong; stderr then says which."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # As the launcher decides: the first start needs no variable.
    if not any(os.environ.get(name) for name in ("SECRET_KEY", "DEBUG", "ALLOWED_HOSTS")):
        os.environ["DEBUG"] = "1"
    from django.conf import settings

    django.setup()
    if not settings.DEVELOPMENT:  # in development a launcher sets them
        preflight.check_models(settings.LLM_BASE_URL, settings.LLM_MODELS)
    return settings


def is_stopped(settings: Any) -> bool:
    """Return whether the database is the embedded one and does not run."""
    return not os.environ.get("DATABASE_URL") and not (settings.DATA_DIR / "postgres/postmaster.pid").exists()


def not_running(_: Any) -> Iterator[Finding]:
    yield Finding(
        "warning",
        "instance",
        "is not running, and neither are its database and Redis: turnwire run starts all; without DATABASE_URL they are its own",
    )


def findings_of(measure: Callable[[Any], Iterable[Finding]], settings: Any) -> Iterator[Finding]:
    """Yield the findings of a measurement until it fails, then the reason of the failure."""
    from django.db import DatabaseError
    from psycopg_pool import PoolTimeout

    from chat.runs.task_queue import UNREACHABLE

    try:
        yield from measure(settings)
    except (DatabaseError, PoolTimeout, *UNREACHABLE) as error:
        yield Finding("error", measure.__name__, f"cannot be asked: {env.first_line(error)}")


def show(finding: Finding) -> None:
    label = f"{finding.level:<8}"
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        label = f"\x1b[{COLOURS[finding.level]}m{label}\x1b[0m"
    sys.stdout.write(f"{label}{finding.subject:<14}{finding.text}\n")


def versions(settings: Any) -> Iterator[Finding]:
    yield Finding("ok", "version", f"Turnwire {settings.VERSION}, Python {platform.python_version()}")


def system(settings: Any) -> Iterator[Finding]:
    """Run Django's checks and our own, among them that of the file storage (`manage.py check --deploy`)."""
    from django.core import checks

    messages = checks.run_checks(include_deployment_checks=not settings.DEVELOPMENT)
    for message in messages:
        if not message.is_silenced():
            level: Level = "error" if message.is_serious() else "warning"
            yield Finding(level, "configuration", " ".join(filter(None, (message.msg, message.hint))))
    if not messages:
        yield Finding("ok", "configuration", f"data in {settings.DATA_DIR}")


def postgres(settings: Any) -> Iterator[Finding]:
    from django.db import connection

    from chat.metrics.gauges import accepts_writes
    from config.database_timeouts import WEB, startup_options
    from config.refused_services import OLDEST_POSTGRES, refusal_of_pooler
    from knowledge.search.vector_extension import check_vector_extension

    connection.ensure_connection()
    version = connection.connection.info.server_version
    level: Level = "ok" if version >= OLDEST_POSTGRES else "error"
    yield Finding(
        level, "postgres", f"version {version // 10_000}; {OLDEST_POSTGRES // 10_000} or newer is needed"
    )
    # As the processes connect.
    options = startup_options([WEB], settings.STATEMENT_TIMEOUT_S)
    if problem := refusal_of_pooler(
        settings.DATABASE_URL, options, prepares_statements=settings.PREPARE_STATEMENTS
    ):
        yield Finding("error", "postgres", problem)
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT datcollversion, pg_database_collation_actual_version(oid)
            FROM pg_database WHERE datname = current_database()"""
        )
        yield from diagnosis.of_collation(*cursor.fetchone())
        if not accepts_writes():
            yield Finding("error", "postgres", "refuses writes: a standby, or default_transaction_read_only")
        asked_at = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        yield diagnosis.of_clock("postgres", float(cursor.fetchone()[0]) - _middle(asked_at))
    for warning in check_vector_extension(databases=["default"]):
        yield Finding("warning", "postgres", f"{warning.msg} {warning.hint}")


def redis(settings: Any) -> Iterator[Finding]:
    from chat.runs.task_queue import check_writable

    check_writable()
    yield from _redis("redis", settings.REDIS_URL)


def _redis(subject: str, url: str) -> Iterator[Finding]:
    from redis import Redis
    from redis.exceptions import NoPermissionError

    from config.refused_services import NO_CLUSTER, TIMEOUT_S, is_cluster_node

    with Redis.from_url(
        url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, decode_responses=True
    ) as client:
        asked_at = time.time()
        seconds, microseconds = client.time()
        yield diagnosis.of_clock(subject, seconds + microseconds / 1e6 - _middle(asked_at))
        try:
            policy = client.info("memory").get("maxmemory_policy")
            is_refused = is_cluster_node(client)
        except NoPermissionError:
            policy, is_refused = None, False
        yield diagnosis.of_eviction(subject, policy)
        if is_refused:
            yield Finding("error", subject, NO_CLUSTER)


def _middle(asked_at: float) -> float:
    """Return the approximate time of this machine at which the server answered."""
    return (asked_at + time.time()) / 2


def broker(settings: Any) -> Iterator[Finding]:
    from chat.runs.task_queue import ping_broker

    ping_broker()
    url = settings.CELERY_BROKER_URL
    if url == settings.REDIS_URL:
        yield Finding("ok", "broker", "the same Redis")
    elif url.startswith("amqp"):
        yield Finding("ok", "broker", "RabbitMQ answers")
    else:
        yield from _redis("broker", url)


def migrations(_: Any) -> Iterator[Finding]:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    yield diagnosis.of_migrations([f"{migration.app_label}.{migration.name}" for migration, _ in plan])


def processes(_: Any) -> Iterator[Finding]:
    from chat.metrics import presence
    from chat.models import ModelConfig
    from chat.protocol.tasks import COMPRESSION_QUEUE, DEFAULT_QUEUE, INGEST_QUEUE

    live = presence.live_processes()
    used = ModelConfig.objects.usable().order_by().values_list("queue", flat=True)
    pools = presence.pools(live, {DEFAULT_QUEUE, COMPRESSION_QUEUE, INGEST_QUEUE, *used})
    yield from diagnosis.of_processes(
        [process.role for process in live], [pool.queue for pool in pools if not pool.workers]
    )


def space(settings: Any) -> Iterator[Finding]:
    """Measure the disk of DATA_DIR, of temporary files, and of each store that is on another disk."""
    own = settings.DATA_DIR
    yield from _space("disk", own)
    yield from _space(
        "temporary", Path(tempfile.gettempdir()), settings.INGEST_CONCURRENCY * BYTES_PER_READER
    )
    for subject, folder in (("files", own / "media"), ("logs", own / "logs"), ("database", own / "postgres")):
        if folder.exists() and folder.stat().st_dev != own.stat().st_dev:
            yield from _space(subject, folder)
    if not is_stopped(settings) and (folder := _folder_of_local_postgres()):
        yield diagnosis.of_space("database", folder, shutil.disk_usage(folder).free)


def _space(subject: str, folder: Path, least_bytes: int = diagnosis.LEAST_FREE_BYTES) -> Iterator[Finding]:
    # The first start makes DATA_DIR.
    there = next(path for path in (folder, *folder.parents) if path.exists())
    yield diagnosis.of_space(subject, str(folder), shutil.disk_usage(there).free, least_bytes)
    if not os.access(there, os.W_OK):
        yield Finding("error", subject, f"{there} cannot be written")


def _folder_of_local_postgres() -> str | None:
    """Return the folder of a Postgres on this machine; None if it is on another, or its user may not know."""
    from django.db import DatabaseError, connection
    from psycopg_pool import PoolTimeout

    try:
        with connection.cursor() as cursor:
            cursor.execute(
                """SELECT setting FROM pg_settings WHERE name = 'data_directory'
                AND coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)"""
            )
            row = cursor.fetchone()
    except (DatabaseError, PoolTimeout):  # postgres() says so
        return None
    # The embedded one calls a private folder /proc/self/cwd (config/embedded.py).
    folder = row[0] if row and not row[0].startswith("/proc/") else ""
    return folder if folder and os.path.exists(folder) else None  # noqa: PTH110  others' folders may raise


def proxies(settings: Any) -> Iterator[Finding]:
    yield diagnosis.of_proxies(settings.TRUSTED_PROXIES, has_tls=settings.SECURE_SSL_REDIRECT)


def models(_: Any) -> Iterator[Finding]:
    from chat.models import ModelConfig

    usable = ModelConfig.objects.usable().select_related("provider")
    problems = {model: " ".join(model.problems().values()) for model in usable}
    offered = [model for model in usable if not problems[model]]
    yield from diagnosis.of_models(
        [model.name for model in offered],
        [model.name for model in offered if model.is_demo],
        [f"{model.name}: {problem}" for model, problem in problems.items() if problem],
    )


if __name__ == "__main__":
    sys.exit(main())
