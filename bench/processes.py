"""Start processes on loopback, end them by their own handle, and read the CPU time they used."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
START_TIMEOUT_S = 60.0
END_TIMEOUT_S = 15.0


def uvicorn(application: str, port: int) -> list[str]:
    """The command of every HTTP server here, with the flags our own web process has."""
    return [
        str(BIN / "uvicorn"), application, "--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop",
        "--http", "httptools", "--ws", "websockets-sansio", "--ws-per-message-deflate", "false", "--log-level", "warning",
    ]  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Processes:
    """Everything one benchmark started; gone when it ends. Output goes to <directory>/<name>.log."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.started: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(
        self, name: str, command: Sequence[str], env: Mapping[str, str] | None = None, user: str | None = None
    ) -> psutil.Process:
        with (self.directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=user, start_new_session=True,
                cwd="/" if user else ROOT, env={**os.environ, **(env or {})},
            )  # fmt: skip
        self.started.append((name, process))
        return psutil.Process(process.pid)

    def check(self) -> None:
        """Raises RuntimeError if one has ended: its figures would be another's."""
        for name, process in self.started:
            if process.poll() is not None:
                log = (self.directory / f"{name}.log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"{name} ended with {process.returncode}:\n{log[-3000:]}")

    async def listening(self, port: int) -> None:
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                self.check()
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.1)
                else:
                    writer.close()
                    return

    def stop(self) -> None:
        """Last started, first ended: clients before the services they use."""
        for name, process in reversed(self.started):
            if process.poll() is not None:
                continue
            # SIGINT is Postgres's fast shutdown; SIGTERM would wait for its clients.
            process.send_signal(2 if name == "postgres" else 15)
            try:
                process.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.started.clear()


def cpu_s(processes: Sequence[psutil.Process]) -> float:
    """User and system time so far, of the processes and of every child they have or had."""
    total = 0.0
    for process in processes:
        own = process.cpu_times()
        total += own.user + own.system + own.children_user + own.children_system
        for child in process.children(recursive=True):
            try:
                used = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += used.user + used.system
    return total


@dataclass(frozen=True)
class Sample:
    at_ns: int
    used_s: dict[str, float]


class Meter:
    """Samples the groups' processor time while it is entered. Cheap: the processes themselves, no children."""

    EVERY_S = 0.1

    def __init__(self, groups: Mapping[str, Sequence[psutil.Process]]) -> None:
        self.groups = groups
        self.samples: list[Sample] = []

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._sample())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()

    async def _sample(self) -> None:
        while True:
            times = {name: [each.cpu_times() for each in group] for name, group in self.groups.items()}
            used_s = {name: sum(each.user + each.system for each in rows) for name, rows in times.items()}
            self.samples.append(Sample(time.time_ns(), used_s))
            await asyncio.sleep(self.EVERY_S)
