"""The real thing for end-to-end tests: Celery worker and web processes on the tests' services, killable one by one.

They share the test database, so a test that uses them needs `@pytest.mark.django_db(transaction=True)`.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection

from tests.services import Services
from tests.upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent
STARTED_WITHIN_S = 60


@dataclass
class Server:
    """One process of the stack. It can be killed, and started again on the same address."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    is_ready: Callable[["Server"], bool]
    process: subprocess.Popen[bytes] | None = None
    log_read_from: int = 0

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Returns when it is ready."""
        self.log_read_from = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            # A group of its own: Ctrl-C in the test run must not reach it twice.
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        limit = time.monotonic() + STARTED_WITHIN_S
        while not self.is_ready(self):
            assert self.process.poll() is None, (
                f"{self.name} ended with {self.process.returncode}:\n{self.said()}"
            )
            assert time.monotonic() < limit, f"{self.name} is not ready:\n{self.said()}"
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9."""
        self.signal(signal.SIGKILL)
        self.process.wait(30)

    def terminate(self, timeout_s: float = 60) -> int:
        """SIGTERM; the exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout_s)

    def restart(self) -> None:
        self.kill()
        self.start()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def said(self) -> str:
        """Its log since it was last started."""
        with self.log.open("rb") as log:
            log.seek(self.log_read_from)
            return log.read().decode("utf-8", "replace")


@dataclass
class Stack:
    """base_url: of the first web process, without a slash at the end."""

    services: Services
    upstream: Upstream
    directory: Path
    environment: dict[str, str] = field(default_factory=dict)
    workers: list[Server] = field(default_factory=list)
    webs: list[Server] = field(default_factory=list)
    base_urls: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return self.base_urls[0]

    @property
    def worker(self) -> Server:
        return self.workers[0]

    @property
    def web(self) -> Server:
        return self.webs[0]

    def start_worker(self, *, concurrency: int = 50, queues: str = "llm") -> Server:
        number = len(self.workers) + 1
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-P", "threads", "-c", str(concurrency),
                   "-Q", queues, "-n", f"worker{number}-{os.getpid()}@%h", "-l", "INFO",
                   "--without-gossip", "--without-mingle", "--without-heartbeat"]  # fmt: skip
        server = self._server(f"worker{number}", command, lambda server: " ready." in server.said())
        self.workers.append(server)
        server.start()
        return server

    def start_web(self) -> Server:
        number = len(self.webs) + 1
        port = _free_port()
        base_url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--host", "127.0.0.1", "--port", str(port),
                   "--ws", "websockets", "--ws-per-message-deflate", "false", "--loop", "uvloop",
                   "--timeout-graceful-shutdown", "5"]  # fmt: skip
        server = self._server(f"web{number}", command, lambda _: _answers(base_url))
        self.webs.append(server)
        self.base_urls.append(base_url)
        server.start()
        return server

    def wait_for(self, condition: Callable[[], Any], timeout_s: float = 60) -> Any:
        """What `condition` returns, once it is true."""
        limit = time.monotonic() + timeout_s
        while not (value := condition()):
            assert time.monotonic() < limit, f"not within {timeout_s} s\n{self.said()}"
            time.sleep(0.01)
        return value

    def said(self) -> str:
        return "\n".join(f"--- {server.name}\n{server.said()}" for server in [*self.workers, *self.webs])

    def stop(self) -> None:
        running = [server for server in [*self.webs, *self.workers] if server.process.poll() is None]
        for server in running:
            server.kill()

    def _server(self, name: str, command: list[str], is_ready: Callable[[Server], bool]) -> Server:
        environment = {
            **os.environ,
            **self.services.environment(),
            **_of_the_tests(self.services),
            **self.environment,
        }
        environment["LLM_BASE_URL"] = self.upstream.base_url
        return Server(name, command, environment, self.directory / f"{name}.log", is_ready)


@contextmanager
def stack(services: Services, directory: Path, *, workers: int = 1, webs: int = 1,
          environment: dict[str, str] | None = None) -> Iterator[Stack]:  # fmt: skip
    """Everything started; on the way out everything killed, and what the processes said printed for pytest."""
    with Upstream() as upstream:
        it = Stack(services, upstream, directory, environment or {})
        try:
            for _ in range(workers):
                it.start_worker()
            for _ in range(webs):
                it.start_web()
            yield it
        finally:
            it.stop()
            print(it.said())


def _of_the_tests(services: Services) -> dict[str, str]:
    """The test database of this test run, and a DATA_DIR nobody else uses."""
    name = str(connection.settings_dict["NAME"])
    url = re.sub(r"/[^/?]+\?", f"/{name}?", services.postgres.url)
    return {"DATABASE_URL": url, "DEBUG": "1", "DATA_DIR": str(services.directory / "data")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(base_url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base_url}/health/live", timeout=5):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return error.code < 500
    except OSError:
        return False
