"""`make run`: starts everything Turnwire needs from one foreground command.

This module has only the order of the steps. preflight.py checks the conditions of a start, programs.py defines the
programs, supervisor.py keeps them alive.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from config import embedded, preflight, programs
from config import environment as env
from config.console import Console
from config.own_programs import preload
from config.private_files import close_to_others
from config.ready_message import ready_lines
from config.supervisor import Supervisor
from web.site_origin import connectable_host, listening_address

# After this time the address is printed even if web does not answer yet. Web is restarted in any case.
WEB_TIMEOUT_S = 120.0
RED, END_OF_RED = "\x1b[1;31m", "\x1b[0m"
OPEN_TO_OTHERS = (
    "DEBUG is on and other machines can reach this one: anybody there can log in as demo and administer it"
)


class StopRequested(Exception):
    """A signal, or the end of the parent process, ends the launcher."""


class StepFailed(Exception):
    """A process that prepares the start ended with an error, which it has printed."""


class Launcher:
    """The start, the run and the stop of one instance, which uses `directory` as DATA_DIR."""

    def __init__(self, directory: Path, *, follow_parent: bool) -> None:
        self.directory = directory
        self._parent = os.getppid() if follow_parent else None
        self._signals_received = 0
        self._lock = preflight.acquire_lock(directory)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        # The environment variables that this start sets for its children.
        self.values: dict[str, str] = {"DATA_DIR": str(directory)}

    def run(self) -> int:
        """Return the exit status, after a stop or a failed start."""
        self.configure()
        close_to_others(self.directory)
        console = Console(self.directory / "logs")
        self._write_line = console.write_line
        self.supervisor = Supervisor(console.write_line, inherited_fds=(self._lock.fileno(),))
        status = 0
        try:
            self.start()
            self.wait_until(lambda: False)
        except StopRequested:
            self._write_line("turnwire", "stopping (Ctrl-C again: without waiting for running answers)")
        except (StepFailed, RuntimeError, OSError, subprocess.SubprocessError) as failure:
            self._write_line("turnwire", f"cannot start: {failure}")
            status = 1
        self.supervisor.stop(hurry=lambda: self._signals_received > 1)
        return status

    def configure(self) -> None:
        """Set and check the configuration. If this fails, nothing has been started."""
        env.delete_stored(self.directory)
        is_debug_chosen = bool(os.environ.get("DEBUG"))
        if not any(os.environ.get(name) for name in ("SECRET_KEY", "DEBUG", "ALLOWED_HOSTS")):
            self.set_values(DEBUG="1")
        if env.switch("DEBUG"):
            self.set_values(DEBUG="1")
            if not os.environ.get("SECRET_KEY"):
                self.set_values(SECRET_KEY=embedded.stored_secret(self.directory / "secret_key", 48))
            if not os.environ.get("SECRETS_KEYS"):
                self.set_values(SECRETS_KEYS=embedded.stored_secret(self.directory / "secrets_key", 32))
        from config import settings

        self.settings = settings
        preflight.check_models(settings.LLM_BASE_URL, settings.LLM_MODELS)
        if settings.DEVELOPMENT:
            preflight.check_development_host(settings.HOST, is_debug_chosen=is_debug_chosen)
        preflight.check_port(settings.HOST, settings.PORT)
        self._check_services()
        preflight.record_owner(self._lock, listening_address(settings))

    def _check_services(self) -> None:
        settings = self.settings
        self.uses_embedded_postgres = not os.environ.get("DATABASE_URL")
        self.uses_embedded_valkey = not os.environ.get("REDIS_URL")
        if not self.uses_embedded_postgres:
            preflight.check_postgres(
                settings.DATABASE_URL,
                settings.STATEMENT_TIMEOUT_S,
                prepares_statements=settings.PREPARE_STATEMENTS,
            )
        if not self.uses_embedded_valkey:
            preflight.check_redis(settings.REDIS_URL)
        if os.environ.get("CELERY_BROKER_URL") and settings.CELERY_BROKER_URL != settings.REDIS_URL:
            preflight.check_broker(settings.CELERY_BROKER_URL)

    def set_values(self, **values: str) -> None:
        """Set environment variables for this process and its children."""
        self.values |= values
        os.environ.update(values)

    def start(self) -> None:
        arguments = self.start_services() + self.start_model()
        kept = {name: value for name, value in self.values.items() if name != "DATA_DIR"}
        env.store(self.directory, kept)
        self.run_once("config.bootstrap", arguments)
        # Not earlier: the names of the collected static files, for example, are read once.
        self.supervisor.may_fork = preload()
        llm_workers, drain_grace_s = self.settings.LLM_WORKERS, self.settings.DRAIN_GRACE_S
        for program in programs.workers(self.values, llm_workers=llm_workers, drain_grace_s=drain_grace_s):
            self.supervisor.start(program)
        self.run_once("config.worker_ready", [])
        self.supervisor.start(
            programs.web({**self.values, "HOST": self.settings.HOST, "PORT": str(self.settings.PORT)})
        )
        self.announce()

    def start_services(self) -> list[str]:
        """Start the embedded services; return the arguments that make config.bootstrap wait for them."""
        arguments = []
        postgres_directory, valkey_directory = self.directory / "postgres", self.directory / "valkey"
        embedded.stop_leftovers(postgres_directory, valkey_directory)
        if self.uses_embedded_postgres:
            self._write_line(
                "turnwire", f"starting Postgres and the other services, data in {self.directory}"
            )
            server = embedded.postgres(postgres_directory)
            self.set_values(DATABASE_URL=server.url)
            self.supervisor.start(programs.postgres(server))
            arguments.append("--embedded-postgres")
        if self.uses_embedded_valkey:
            server = embedded.valkey(valkey_directory)
            self.set_values(REDIS_URL=server.url)
            self.supervisor.start(programs.valkey(server))
            arguments.append("--embedded-valkey")
        return arguments

    def start_model(self) -> list[str]:
        """Start a model server if none is configured; return the arguments for config.bootstrap."""
        self.model = None
        if self.settings.LLM_BASE_URL:
            return []
        self.model = programs.choose_model_server(self.directory / "model")
        self.set_values(LLM_BASE_URL=self.model.base_url, LLM_MODELS=self.model.models)
        self.supervisor.start(programs.model(self.model))
        return ["--demo"] if self.model.is_demo else ["--local-model"]

    def run_once(self, module: str, arguments: list[str]) -> None:
        """Run a Python module to its end. Raises StepFailed, StopRequested."""
        child = self.supervisor.start_once(programs.one_off(module, arguments, self.values))
        self.wait_until(lambda: not child.is_running)
        if child.status:
            raise StepFailed(f"{module} ended with status {child.status}")

    def announce(self) -> None:
        """Wait for web, and print its address and how the first admin is created."""
        host, port = self.settings.HOST, self.settings.PORT
        limit = time.monotonic() + WEB_TIMEOUT_S
        self.wait_until(lambda: accepts_connections(host, port) or time.monotonic() > limit)
        for line in ready_lines(self.settings):
            self._write_line("turnwire", line)
        if self.settings.DEVELOPMENT and not preflight.is_loopback(host):
            self._write_line("turnwire", f"{RED}{OPEN_TO_OTHERS}{END_OF_RED}")
        if self.model and self.model.is_demo:
            self._write_line(
                "turnwire",
                "no model is configured: the built-in demo answers; the README says how to connect one",
            )
        if not self.settings.DEVELOPMENT:
            self.run_once("config.first_admin", [])
        self._write_line("turnwire", "Ctrl-C stops everything")

    def wait_until(self, is_done: Callable[[], bool]) -> None:
        """Supervise the children until `is_done()`. Raises StopRequested."""
        while not is_done():
            if self._signals_received or (self._parent is not None and os.getppid() != self._parent):
                raise StopRequested
            self.supervisor.tick()

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._signals_received += 1


def accepts_connections(host: str, port: int) -> bool:
    try:
        socket.create_connection((connectable_host(host), port), timeout=0.5).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    launcher = Launcher(env.data_dir(), follow_parent="--follow-parent" in sys.argv[1:])
    sys.exit(launcher.run())
