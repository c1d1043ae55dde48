"""Start of all processes that a benchmark needs, on loopback, and measurement of their processor time.

The system uses the commands of the Procfile and the embedded Postgres and Valkey with their normal durability.
"""

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import psutil

from bench.load import Control, System
from config import embedded

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


LLM_WORKERS = 2
CONTROLS = ("naive", "lean")


class BenchStack:
    def __init__(self, directory: Path) -> None:
        self.processes = Processes(directory)
        self.directory = directory
        self.upstream = ""

    async def start_upstream(self) -> None:
        port = free_port()
        self.processes.start("upstream", uvicorn_command("bench.upstream:application", port))
        await self.processes.wait_until_listening(port)
        self.upstream = f"http://127.0.0.1:{port}"

    async def start_control(self, http: aiohttp.ClientSession, name: str) -> Control:
        port = free_port()
        env = {"LLM_BASE_URL": f"{self.upstream}/v1"}
        process = self.processes.start(name, uvicorn_command(f"bench.{name}:application", port), env)
        await self.processes.wait_until_listening(port)
        return Control(name, http, f"ws://127.0.0.1:{port}/ws/", {"web": [process]})

    async def start_system(
        self, http: aiohttp.ClientSession, models: list[str]
    ) -> tuple[System, dict[str, dict[str, str]]]:
        """Start the system. Return it, and the ids of its seeded sessions by name."""
        postgres = embedded.postgres(self.directory / "postgres")
        valkey = embedded.valkey(self.directory / "valkey")
        uncounted = {"postgres": [self.processes.start("postgres", postgres.command)]}
        redis = self.processes.start("valkey", valkey.command)
        embedded.wait_for_postgres(postgres)
        embedded.wait_for_valkey(valkey)
        env = self._environment(postgres.url, valkey.url)
        self._run(env, "manage.py", "migrate", "--verbosity", "0")
        seeded = json.loads(self._run(env, "-m", "bench.seed", *models))
        lines = read_procfile()
        workers = [self._start(f"llm-{n}", lines["llm"], env) for n in range(LLM_WORKERS)]
        web = self._start("web", lines["web"], env)
        for name in lines.keys() - {"web", "llm"}:
            uncounted[name] = [self._start(name, lines[name], env)]
        await self.processes.wait_until_listening(int(env["PORT"]))
        counted = {"worker": workers, "redis": [redis], "web": [web]}
        return System(http, f"127.0.0.1:{env['PORT']}", seeded["token"], counted, uncounted), seeded["trees"]

    def _environment(self, database_url: str, redis_url: str) -> dict[str, str]:
        return {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "DATA_DIR": str(self.directory / "data"),
            "SECRET_KEY": secrets.token_urlsafe(50),
            # As in production; with DEBUG, Django keeps every query in memory.
            "DEBUG": "0",
            "ALLOWED_HOSTS": "127.0.0.1",
            "HOST": "127.0.0.1",
            "PORT": str(free_port()),
            "LLM_BASE_URL": f"{self.upstream}/v1",
            "LLM_API_KEY": "none",
            "MAX_RUNS_PER_USER": "1000",
            "DJANGO_SETTINGS_MODULE": "bench.settings",
            "DRAIN_GRACE": "1",
            "PATH": f"{BIN}:/usr/bin:/bin",
        }

    def _start(self, name: str, line: str, env: dict[str, str]) -> psutil.Process:
        return self.processes.start(name, ["/bin/sh", "-c", f"exec {line}"], env)

    def _run(self, env: dict[str, str], *arguments: str) -> str:
        command = [sys.executable, *arguments]
        completed = subprocess.run(
            command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
        if completed.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{completed.stderr[-3000:]}")
        return completed.stdout


def read_procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    return {name: line.strip() for name, _, line in (line.partition(":") for line in lines) if line}
