"""The processes of the Procfile, run for end-to-end tests against the services of the test process.

They use the database `turnwire` and Redis database 1; in-process tests use pytest-django's test database and Redis
database 0. The processes' output is in `directory`, and shown when they do not become ready.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2

from config.embedded import find_suitable_port
from tests import secrets_keys
from tests.process_reaper import end_with_this_process
from tests.search_server import SearchServer
from tests.services import Services
from tests.upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent
READY_S = 60
DEFAULT = ("llm", "sweeper", "web")
# One script, since the start of each process is what takes time.
PREPARATION = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
call_command("sync_models")
for name in ("alice", "bob", "carol"):
    call_command("create_user", name, password=name)
call_command("create_user", "root", password="root", staff=True)
"""


def constants(**settings: object) -> dict[str, str]:
    """Return the variables of a process whose settings differ in these, which no variable of the product sets."""
    return {"CONSTANTS": json.dumps(settings)}


def procfile(code: Path = ROOT) -> dict[str, str]:
    lines = (code / "Procfile").read_text(encoding="utf-8").splitlines()
    return {name: command.strip() for name, _, command in (line.partition(":") for line in lines if line)}


class Stack:
    """One web process and any number of other processes, each in its own process group.

    code: the folder with the code that they run, which may be that of another version.
    """

    def __init__(
        self,
        services: Services,
        upstream: Upstream,
        searching: SearchServer,
        models: str = "alpha,beta,gamma",
        code: Path = ROOT,
    ) -> None:
        self.code = code
        self.upstream = upstream
        self.searching = searching
        self.directory = services.directory / f"stack-{time.monotonic_ns()}"
        self.directory.mkdir()
        # Collected once for all stacks of these services.
        static = services.directory / "collected static"
        static.mkdir(exist_ok=True)
        (self.directory / "static").symlink_to(static)
        self.port = find_suitable_port("127.0.0.1")
        self.base_url = f"http://127.0.0.1:{self.port}"
        # Of the MCP server that a test may start; workers may call it.
        self.mcp_port = find_suitable_port("127.0.0.1")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        # What each process was started with.
        self.lines: dict[str, tuple[str, Mapping[str, str]]] = {}
        self.environment: dict[str, str] = {
            **os.environ,
            **services.environment(),
            "REDIS_URL": services.valkey.url.removesuffix("/0") + "/1",
            "DJANGO_SETTINGS_MODULE": "tests.stack_settings",
            "DEBUG": "1",
            "DATA_DIR": str(self.directory),
            "PORT": str(self.port),
            "PUBLIC_URL": self.base_url,
            "LLM_BASE_URL": upstream.base_url,
            "LLM_MODELS": models,
            "SECRETS_KEYS": secrets_keys.FIRST,
            "LLM_CONCURRENCY": "50",
            "TITLES": "1",
            "WEB_SEARCH_URL": searching.url,
            "URL_ALLOWED_HOSTS": f"{searching.url.removeprefix('http://')},127.0.0.1:{self.mcp_port}",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

    @classmethod
    @contextlib.contextmanager
    def running(
        cls, services: Services, upstream: Upstream, searching: SearchServer, **more: str
    ) -> Iterator["Stack"]:
        """Prepare the database, run web, one worker and the sweeper, and yield the stack."""
        stack = cls(services, upstream, searching, **more)
        stack.prepare()
        try:
            stack.mend()
            yield stack
        finally:
            stack.stop()

    def prepare(self) -> None:
        """Migrate, collect static files, create the models, and users whose password is their name; root is staff."""
        self.manage("shell", "-v", "0", "-c", PREPARATION)

    def manage(self, *arguments: str) -> str:
        completed = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.code, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert completed.returncode == 0, f"manage.py {arguments}: {completed.stderr}"
        return completed.stdout

    def create_token(self, name: str) -> str:
        """Log in over HTTP: `manage.py create_token` takes a second of the processor to start."""
        login = {"username": name, "password": name}
        answer = httpx2.post(f"{self.base_url}/api/auth/token/", json=login, timeout=30, trust_env=False)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    def start(self, line: str, name: str | None = None, environment: Mapping[str, str] | None = None) -> None:
        """Start the Procfile's `line`, or this command, under `name` (its own by default)."""
        name = name or line
        self.lines[name] = line, environment or {}
        with (self.directory / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {procfile(self.code).get(line, line)}"],
                cwd=self.code, env={**self.environment, **(environment or {})},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        end_with_this_process(self.processes[name])

    def mend(self) -> None:
        """Forget the processes that earlier tests left ended, and start again those that every stack has."""
        for name in [name for name, process in self.processes.items() if process.poll() is not None]:
            del self.processes[name]
        ended = [name for name in DEFAULT if name not in self.processes]
        for name in ended:
            self.start(name)
        if ended:
            self.wait_until_ready()

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the process; after SIGKILL, wait for its exit."""
        self.processes[name].send_signal(number)
        if number == signal.SIGKILL:
            self.processes.pop(name).wait()

    def wait_for_exit(self, name: str, limit_s: float) -> int:
        """Wait until the process has exited; return its exit status."""
        return self.processes.pop(name).wait(limit_s)

    def end(self, name: str) -> None:
        """Let the process end in order."""
        self.signal(name, signal.SIGTERM)
        self.wait_for_exit(name, 60)

    def wait_until_ready(self) -> None:
        limit = time.monotonic() + READY_S
        while True:
            with contextlib.suppress(httpx2.TransportError):
                answer = httpx2.get(f"{self.base_url}/health/ready", timeout=5, trust_env=False)
                if answer.status_code == 200:
                    return
            for name, process in self.processes.items():
                assert process.poll() is None, f"{name} ended: {self.log(name)}"
            assert time.monotonic() < limit, f"not ready: {self.log('web')} {self.log('llm')}"
            time.sleep(0.05)

    def log(self, name: str) -> str:
        path = self.directory / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes.clear()
