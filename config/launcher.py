"""make run: everything Turnwire needs, in one foreground command. The order of events is here, nothing else:
what must be true first is preflight.py, what is started is programs.py, keeping it alive is supervisor.py.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from config import embedded, model_server, preflight, programs
from config import environment as env
from config.console import Console
from config.supervisor import Supervisor

# Only to decide what to print: web is restarted for as long as it takes.
WEB_PATIENCE_S = 120.0


class Stopped(Exception):
    """Somebody asked for the end while the start was still going on."""


class Failed(Exception):
    """A step of the start ended badly; its own output says why."""


class Launcher:
    def __init__(self, directory: Path, *, follow_parent: bool) -> None:
        self.directory = directory
        self._parent = os.getppid() if follow_parent else None
        self._requests = 0
        self._lock = preflight.lock(directory)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        # What this start decides, beyond what the user's environment says.
        self.values: dict[str, str] = {"DATA_DIR": str(directory)}

    def run(self) -> int:
        self.configure()
        console = Console(self.directory / "logs")
        self._say = console.say
        self.supervisor = Supervisor(console.say, held=(self._lock.fileno(),))
        status = 0
        try:
            self.start()
            self.wait_until(lambda: False)
        except Stopped:
            self._say("turnwire", "stopping (once more hurries)")
        except (Failed, RuntimeError, OSError, subprocess.SubprocessError) as failure:
            self._say("turnwire", f"cannot start: {failure}")
            status = 1
        self.supervisor.stop(hurry=lambda: self._requests > 1)
        return status

    def configure(self) -> None:
        """Decide and check everything; nothing has been started when this fails."""
        env.forget(self.directory)
        if not any(os.environ.get(name) for name in ("SECRET_KEY", "DEBUG", "ALLOWED_HOSTS")):
            self.decide(DEBUG="1")
        if env.switch("DEBUG"):
            self.decide(DEBUG="1")
            if not os.environ.get("SECRET_KEY"):
                self.decide(SECRET_KEY=embedded.stored_secret(self.directory / "secret_key", 48))
        from config import settings

        self.settings = settings
        preflight.check_models(settings.LLM_BASE_URL, settings.LLM_MODELS)
        preflight.check_port(settings.HOST, settings.PORT)
        self.embeds_postgres = not os.environ.get("DATABASE_URL")
        self.embeds_valkey = not os.environ.get("REDIS_URL")
        if not self.embeds_postgres:
            preflight.check_postgres(settings.DATABASE_URL)
        if not self.embeds_valkey:
            preflight.check_redis(settings.REDIS_URL)
        self.address = f"http://{shown(settings.HOST)}:{settings.PORT}"
        preflight.sign(self._lock, self.address)

    def decide(self, **values: str) -> None:
        self.values |= values
        os.environ.update(values)

    def start(self) -> None:
        arguments = self.start_services() + self.start_model()
        kept = {name: value for name, value in self.values.items() if name != "DATA_DIR"}
        env.keep(self.directory, kept)
        self.run_to_end("config.bootstrap", arguments)
        llm_workers, drain_grace_s = self.settings.LLM_WORKERS, self.settings.DRAIN_GRACE_S
        for program in programs.workers(self.values, llm_workers=llm_workers, drain_grace_s=drain_grace_s):
            self.supervisor.start(program)
        self.run_to_end("config.worker_ready", [])
        self.supervisor.start(
            programs.web({**self.values, "HOST": self.settings.HOST, "PORT": str(self.settings.PORT)})
        )
        self.announce()

    def start_services(self) -> list[str]:
        """Returns what config.bootstrap shall wait for."""
        arguments = []
        postgres_directory, valkey_directory = self.directory / "postgres", self.directory / "valkey"
        embedded.stop_leftovers(postgres_directory, valkey_directory)
        if self.embeds_postgres:
            self._say("turnwire", f"starting Postgres and the rest, data in {self.directory}")
            server = embedded.postgres(postgres_directory)
            self.decide(DATABASE_URL=server.url)
            self.supervisor.start(programs.postgres(server))
            arguments.append("--embedded-postgres")
        if self.embeds_valkey:
            server = embedded.valkey(valkey_directory)
            self.decide(REDIS_URL=server.url)
            self.supervisor.start(programs.valkey(server))
            arguments.append("--embedded-valkey")
        return arguments

    def start_model(self) -> list[str]:
        self.model = None
        if self.settings.LLM_BASE_URL:
            return []
        self.model = model_server.choose(self.directory / "model")
        self.decide(LLM_BASE_URL=self.model.base_url, LLM_MODELS=self.model.models)
        self.supervisor.start(programs.model(self.model))
        return ["--demo"] if self.model.is_demo else []

    def run_to_end(self, module: str, arguments: list[str]) -> None:
        child = self.supervisor.start_once(programs.once(module, arguments, self.values))
        self.wait_until(lambda: not child.is_running)
        if child.status:
            raise Failed(f"{module} ended with status {child.status}")

    def announce(self) -> None:
        limit = time.monotonic() + WEB_PATIENCE_S
        self.wait_until(lambda: answers(self.settings.HOST, self.settings.PORT) or time.monotonic() > limit)
        login = "  (log in as demo, password demo)" if self.settings.DEBUG else ""
        self._say("turnwire", f"ready: {self.address}{login}")
        if self.model and self.model.is_demo:
            self._say(
                "turnwire",
                "no model is configured: the built-in demo answers; README says how to connect one",
            )
        self._say("turnwire", "Ctrl-C stops everything")

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Look after the children until `done()`. Raises Stopped."""
        while not done():
            if self._requests or (self._parent is not None and os.getppid() != self._parent):
                raise Stopped
            self.supervisor.tick()

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._requests += 1


def shown(host: str) -> str:
    """The host as a person on this machine types it into a browser."""
    host = reachable(host)
    return f"[{host}]" if ":" in host else host


def reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  compared, not bound


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((reachable(host), port), timeout=0.5).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    launcher = Launcher(env.data_dir(), follow_parent="--follow-parent" in sys.argv[1:])
    sys.exit(launcher.run())
