"""Start and stop of a benchmark's processes, and measurement of their processor time."""

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


def uvicorn_command(application: str, port: int) -> list[str]:
    """Return the command of an HTTP server with the flags of our web process."""
    return [
        str(BIN / "uvicorn"), application, "--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop",
        "--http", "httptools", "--ws", "websockets-sansio", "--ws-per-message-deflate", "false", "--log-level", "warning",
    ]  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Processes:
    """The processes that one benchmark started. Their output goes to <directory>/<name>.log."""

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

    def check_running(self) -> None:
        """Raise RuntimeError if a process has exited, because the figures would be invalid."""
        for name, process in self.started:
            if process.poll() is not None:
                log = (self.directory / f"{name}.log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"{name} ended with {process.returncode}:\n{log[-3000:]}")

    async def wait_until_listening(self, port: int) -> None:
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                self.check_running()
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.1)
                else:
                    writer.close()
                    return

    def stop(self) -> None:
        """Stop all processes, the last started first, so that clients stop before the services they use."""
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


def used_cpu_s(processes: Sequence[psutil.Process]) -> float:
    """Return the user and system time of the processes and of all their current and former children, in seconds."""
    total = 0.0
    for process in processes:
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
        for child in process.children(recursive=True):
            try:
                used = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += used.user + used.system + used.children_user + used.children_system
    return total


@dataclass(frozen=True)
class CpuSample:
    """Processor time at one moment. at_ns: wall clock. used_s: processor time so far, by group."""

    at_ns: int
    used_s: dict[str, float]


class CpuMeter:
    """A meter that samples the processor time of process groups inside an `async with` block.
    Children are left out to keep it cheap.
    """

    INTERVAL_S = 0.1

    def __init__(self, groups: Mapping[str, Sequence[psutil.Process]]) -> None:
        self.groups = groups
        self.samples: list[CpuSample] = []

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
            self.samples.append(CpuSample(time.time_ns(), used_s))
            await asyncio.sleep(self.INTERVAL_S)
