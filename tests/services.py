"""Starts Postgres and Valkey for one test process."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from config import embedded
from tests.leaving import ends_with_us


class Services:
    """Both servers, with a temporary directory; they end with the test process.

    Postgres survives a crash of its process, not of the machine. Valkey keeps its data only with durable_valkey.
    """

    def __init__(self, *, durable_valkey: bool = False) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="turnwire-tests-"))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        atexit.register(self.stop)
        self.postgres = embedded.postgres(self.directory / "postgres", durable=False)
        self.valkey = embedded.valkey(self.directory / "valkey", durable=durable_valkey)
        self.start(self.postgres)
        self.start(self.valkey)
        self.wait_for(self.postgres)
        self.wait_for(self.valkey)

    def start(self, server: embedded.Server) -> None:
        with (self.directory / f"{server.name}.log").open("ab") as log:
            process = subprocess.Popen(
                server.command, stdout=log, stderr=log, cwd="/", start_new_session=True
            )
        ends_with_us(process)
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
        self.start(server)
        self.wait_for(server)

    def stop(self) -> None:
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
        return {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.valkey.url}


def start_for_this_process() -> Services:
    """Start both and set this process's environment to use them. Call it before Django reads its settings."""
    services = Services()
    (services.directory / "data" / "static").mkdir(parents=True)
    # Tests of titles switch them on; in all others, no task but their own may be on the queue.
    os.environ.update(
        services.environment(), DEBUG="1", DATA_DIR=str(services.directory / "data"), TITLES="0"
    )
    return services
