"""Start of all processes that a benchmark needs, on loopback: upstream, controls and the whole system.

The system uses the commands of the Procfile and the embedded Postgres and Valkey with their normal durability.
"""

import json
import secrets
import subprocess
import sys
from pathlib import Path

import aiohttp
import psutil

from bench.processes import BIN, ROOT, Processes, free_port, uvicorn_command
from bench.subjects import Control, System
from config import embedded

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
