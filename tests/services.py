"""Starts Postgres and Valkey for one test process."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from config import embedded
from tests import migrated_cluster
from tests.process_reaper import end_with_this_process


class Services:
    """Both servers, with a temporary directory; they end with the test process.

    Their addresses are chosen at once; they run from `start` on. Postgres survives a crash of its process, not of the
    machine. Valkey keeps its data only with durable_valkey.
    """

    def __init__(self, *, durable_valkey: bool = False) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="turnwire-tests-"))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._durable_valkey = durable_valkey
        # Whether the databases are migrated, and migrated_cluster.TEMPLATE is one of them.
        self.has_template = False
        atexit.register(self.stop)
        (self.directory / "postgres.password").write_text(migrated_cluster.PASSWORD, encoding="utf-8")
        self.postgres_url, self.redis_url = embedded.addresses(*self._directories)
        self._held_port = _hold(urlsplit(self.redis_url).port or 0)

    @cached_property
    def postgres(self) -> embedded.Server:
        self.has_template = migrated_cluster.copy_to(self._directories[0])
        return embedded.postgres(self._directories[0], durable=False)

    @cached_property
    def valkey(self) -> embedded.Server:
        return embedded.valkey(self._directories[1], durable=self._durable_valkey)

    @property
    def _directories(self) -> tuple[Path, Path]:
        return self.directory / "postgres", self.directory / "valkey"

    def start(self) -> "Services":
        """Start both, unless they run; return when they answer."""
        if not self.processes:
            self._held_port.close()
            self.launch(self.postgres)
            self.launch(self.valkey)
            self.wait_for(self.postgres)
            self.wait_for(self.valkey)
        return self

    def launch(self, server: embedded.Server) -> None:
        """Start one of them; wait_for returns when it answers."""
        with (self.directory / f"{server.name}.log").open("ab") as log:
            process = subprocess.Popen(
                server.command, stdout=log, stderr=log, cwd="/", start_new_session=True
            )
        end_with_this_process(process)
        self.processes[server.name] = process

    def wait_for(self, server: embedded.Server) -> None:
        """Block until `server` answers."""
        wait = embedded.wait_for_postgres if server is self.postgres else embedded.wait_for_valkey
        wait(server)

    def end(self, server: embedded.Server, number: signal.Signals = signal.SIGKILL) -> None:
        """End `server` and wait for its exit. SIGKILL is a crash, SIGINT the fast shutdown of Postgres."""
        process = self.processes.pop(server.name)
        process.send_signal(number)
        process.wait(60)

    def restart(self, server: embedded.Server, number: signal.Signals = signal.SIGKILL) -> None:
        """End `server` and start it at the same address; return when it answers."""
        self.end(server, number)
        self.launch(server)
        self.wait_for(server)

    def mend(self) -> None:
        """Start again what a test that failed has left ended."""
        for server in (self.postgres, self.valkey):
            process = self.processes.get(server.name)
            if process is None or process.poll() is not None:
                self.launch(server)
                self.wait_for(server)

    def stop(self) -> None:
        self._held_port.close()
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
        shutil.rmtree(self.directory, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.postgres_url, "REDIS_URL": self.redis_url}


def _hold(port: int) -> socket.socket:
    """A socket that keeps `port` from being given to another process, until it is closed."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", port))
    return held


def reserve_for_this_process() -> Services:
    """Set this process's environment to services that do not run yet. Call it before Django reads its settings."""
    services = Services()
    (services.directory / "data" / "static").mkdir(parents=True)
    # Tests of titles and of vectors switch them on; in all others, no task but their own may be on the queue.
    own = {
        "DEBUG": "1",
        "DATA_DIR": str(services.directory / "data"),
        "TITLES": "0",
        "EMBEDDINGS_MODEL": "none",
    }
    os.environ.update(services.environment() | own)
    return services


def start_for_this_process() -> Services:
    """The same, running."""
    return reserve_for_this_process().start()
