"""Runs PgBouncer in transaction mode before a Postgres, on a loopback port. Without the program, tests of it are skipped."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest

from tests.instance import free_port
from tests.process_reaper import end_with_this_process
from tests.services import Services

PATIENCE_S = 30.0
CONFIGURATION = """
[databases]
* = host={host} port={port} user=postgres password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 500
"""


def find_pgbouncer() -> str:
    found = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if found is None:
        pytest.skip("PgBouncer is not installed: it was NOT tested")
    return found


@contextmanager
def in_transaction_mode(services: Services, folder: Path, sessions: int) -> Iterator[str]:
    """The address of the pooler, which shares this many sessions of the services' Postgres."""
    url = urlsplit(services.postgres.url)
    server = psycopg.conninfo.conninfo_to_dict(services.postgres.url)
    own_port = free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(CONFIGURATION.format(**server, own_port=own_port, sessions=sessions))
    services.directory.chmod(
        0o711
    )  # the folder of the socket, for a user that is not root, as which it does not run
    user = psutil.Process(services.processes["postgres"].pid).username()
    with (folder / "pgbouncer.log").open("ab") as output:
        process = subprocess.Popen(
            [find_pgbouncer(), *(["-u", user] if user != "root" else []), str(configuration)],
            cwd="/", stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    end_with_this_process(process)
    pooled = f"postgresql://postgres@127.0.0.1:{own_port}{url.path}"
    try:
        _wait(pooled, process, folder)
        yield pooled
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _wait(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    limit = time.monotonic() + PATIENCE_S
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            assert process.poll() is None, (folder / "pgbouncer.log").read_text()
            assert time.monotonic() < limit, (folder / "pgbouncer.log").read_text()
            time.sleep(0.05)
        else:
            return
