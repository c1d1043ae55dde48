"""Postgres and Valkey for one test session, started by the tests themselves."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from config import embedded


class Services:
    """Both servers in a directory of their own; gone with the test process."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="turnwire-tests-"))
        self.directory.chmod(0o755)
        self.processes: list[subprocess.Popen[bytes]] = []
        atexit.register(self.stop)
        self.postgres = embedded.postgres(self.directory / "postgres", durable=False)
        self.valkey = embedded.valkey(self.directory / "valkey", durable=False)
        self.start(self.postgres)
        self.start(self.valkey)
        embedded.wait_for_postgres(self.postgres)
        embedded.wait_for_valkey(self.valkey)

    def start(self, server: embedded.Server) -> subprocess.Popen[bytes]:
        with (self.directory / f"{server.name}.log").open("ab") as log:
            process = subprocess.Popen(
                server.command, stdout=log, stderr=log, user=server.user, cwd="/", start_new_session=True
            )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self.processes:
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
    """Start both and point this process's environment at them, before Django reads its settings."""
    services = Services()
    (services.directory / "data" / "static").mkdir(parents=True)
    os.environ.update(services.environment(), DEBUG="1", DATA_DIR=str(services.directory / "data"))
    return services
