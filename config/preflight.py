"""The conditions of a start: one launcher per DATA_DIR, a valid configuration, a free port, reachable services.

If a condition is not met, the process ends with one line and a status. Nothing is started here.
"""

import fcntl
import os
import socket
import sys
import time
from ipaddress import ip_address
from pathlib import Path
from typing import IO

from config import environment as env
from config.private_files import make_data_dir

# After a launcher is killed, its guard holds the lock until the last child has ended.
LOCK_TIMEOUT_S = 10.0


def acquire_lock(directory: Path) -> IO[str]:
    """Return the locked file of DATA_DIR, to be kept open. Ends the process if another launcher holds the lock."""
    try:
        make_data_dir(directory)
        file = open(directory / "lock", "a+", encoding="utf-8", opener=_open_private)  # noqa: SIM115  Path has no opener; kept open
    except OSError as error:
        env.fail("DATA_DIR", f"{directory} cannot be used ({error.strerror})")
    limit = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            process, _, address = file.read().partition(" ")
            if _is_alive(process) or time.monotonic() > limit:
                sys.stderr.write(
                    f"already running at {address or '?'} (process {process}, data in {directory})\n"
                )
                raise SystemExit(1) from None
            time.sleep(0.1)
        else:
            return file


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def record_owner(file: IO[str], address: str) -> None:
    """Write this process's id and address into the lock file, where a second start reads them."""
    file.truncate(0)
    file.write(f"{os.getpid()} {address}")
    file.flush()


def check_models(base_url: str, models: dict[str, int]) -> None:
    if models and not base_url:
        env.fail("LLM_BASE_URL", "is required with LLM_MODELS")
    if base_url and not models:
        env.fail("LLM_MODELS", "is required with LLM_BASE_URL")


def check_development_host(host: str, *, is_debug_chosen: bool) -> None:
    """End the process if others could reach the account demo / demo without anybody having asked for DEBUG."""
    if not is_debug_chosen and not is_loopback(host):
        env.fail(
            "HOST",
            f"{host} can be reached from other machines, and DEBUG, which is on by default, has an account with a"
            " public password: set SECRET_KEY and ALLOWED_HOSTS, or DEBUG=1 on a network you trust",
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address or name.
    If a name has several addresses, all of them must be loopback addresses.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return True  # no address at all: check_port says so
    return all(ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)


def check_port(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        env.fail("HOST", f"{host!r} is not an address of this machine")
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except PermissionError:
            env.fail("PORT", f"{port} needs more rights than this user has")
        except OSError as error:
            sys.stderr.write(
                f"PORT: {port} on {host} cannot be used ({error.strerror}); choose another, PORT={port + 1}\n"
            )
            raise SystemExit(1) from None


def check_postgres(url: str, statement_timeout_s: int, *, prepares_statements: bool = True) -> None:
    import psycopg

    from config.database_timeouts import WEB, startup_options
    from config.refused_services import refusal_of_pooler, refuse_old_postgres

    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            refuse_old_postgres(connection.info.server_version)
        options = startup_options([WEB], statement_timeout_s)
        problem = refusal_of_pooler(url, options, prepares_statements=prepares_statements)
    except psycopg.Error as error:
        env.fail("DATABASE_URL", f"cannot connect: {env.first_line(error)}")
    if problem:
        env.fail("DATABASE_URL", problem)


def check_broker(url: str) -> None:
    """Check that the broker of Celery, RabbitMQ or Redis, can be used."""
    if url.startswith("amqp"):
        _check_amqp(url)
    else:
        check_redis(url, "CELERY_BROKER_URL")


def _check_amqp(url: str) -> None:
    from amqp.exceptions import AMQPError
    from kombu import Connection
    from kombu.exceptions import OperationalError

    from config.broker_tls import broker_options

    address, options = broker_options(url)
    try:
        with Connection(address, ssl=options, connect_timeout=5) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
    except (OperationalError, AMQPError, OSError) as error:
        env.fail("CELERY_BROKER_URL", f"cannot connect: {env.first_line(error)}")


def check_redis(url: str, name: str = "REDIS_URL") -> None:
    """Check the connection to a Redis. name: the variable that has the URL."""
    import redis

    from config.refused_services import NO_CLUSTER, is_cluster_node

    try:
        with redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
            client.ping()
            if is_cluster_node(client):
                env.fail(name, NO_CLUSTER)
    except redis.exceptions.NoPermissionError:
        return  # it answers, and its user may not ask for more
    except (redis.RedisError, ValueError) as error:
        env.fail(name, f"cannot connect: {env.first_line(error)}")


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True
