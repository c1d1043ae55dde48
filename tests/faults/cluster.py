"""The processes that fault tests break: web, llm workers and the sweeper, with their own Postgres and Valkey.

Tests kill, pause and replace processes by name. restore() gives the next test the default processes, and nothing of what
tests before it have stored or asked for, so that it may count and may run in any order.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import psutil
import psycopg
import redis

from tests import leftovers
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream

LIMIT_S = 60.0
WORKERS = ("llm.1", "llm.2")
DEFAULT_PROCESSES = {"web": "web", "sweeper": "sweeper", **dict.fromkeys(WORKERS, "llm")}


class Cluster:
    def __init__(self, services: Services, stack: Stack) -> None:
        self.services = services
        self.stack = stack
        self.upstream = stack.upstream
        self.searching = stack.searching
        self.database_url = services.postgres.url
        self.redis_url = stack.environment["REDIS_URL"]

    @classmethod
    @contextlib.contextmanager
    def running(cls, *, durable_valkey: bool = False, **environment: str) -> Iterator["Cluster"]:
        """Start the default processes and yield the cluster. environment: variables of every process."""
        services = Services(durable_valkey=durable_valkey).start()
        with Upstream() as upstream, SearchServer() as searching:
            stack = Stack(services, upstream, searching)
            stack.environment.update({"DRAIN_GRACE": "0"} | environment)
            cluster = cls(services, stack)
            stack.prepare()
            try:
                cluster.restore()
                yield cluster
            finally:
                cluster.kill(*stack.processes)
                services.stop()

    def restore(self, workers: Collection[str] = WORKERS) -> None:
        """Run exactly the default processes, none paused, with only these workers; forget all that earlier tests left."""
        self.services.mend()
        wanted = {name: line for name, line in DEFAULT_PROCESSES.items() if line != "llm" or name in workers}
        idle = not leftovers.is_answering(self.stack)
        for name, process in list(self.stack.processes.items()):
            line = wanted.get(name)
            is_as_wanted = self.stack.lines[name] == (line, {}) and process.poll() is None
            if is_as_wanted and (idle or line != "llm"):
                process.send_signal(signal.SIGCONT)
            else:
                self.kill(name, with_children=True)
        leftovers.forget(self.stack)
        for name, line in wanted.items():
            if name not in self.stack.processes:
                self.stack.start(line, name)
        self.stack.wait_until_ready()
        self.wait_for_workers(len(workers))
        self.upstream.reset()
        self.searching.reset()

    def worker(self, name: str, **environment: str) -> None:
        """Start another worker, with additional variables. Returns before it consumes the queue."""
        self.stack.start("llm", name, environment)

    def kill(self, *names: str, with_children: bool = False) -> None:
        """Kill the processes with SIGKILL and wait for their exit. with_children: those of a pool, too."""
        for name in names:
            process = self.stack.processes.pop(name)
            if with_children:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()

    def kill_for_good(self, name: str) -> None:
        """Kill an ingest worker with its pool, and let its leases of files and models end, as if a minute had passed."""
        self.kill(name, with_children=True)
        for table in ("knowledge_file", "knowledge_embeddingmodel"):
            self.rows(f"UPDATE {table} SET lease_until = now() WHERE lease_until > now() RETURNING id")

    def pause(self, *names: str) -> None:
        for name in names:
            self.stack.signal(name, signal.SIGSTOP)

    def resume(self, *names: str) -> None:
        for name in names:
            self.stack.signal(name, signal.SIGCONT)

    def wait_for_exit(self, name: str) -> int:
        """Wait until the process exits without a signal from here; returns its exit status."""
        return self.stack.wait_for_exit(name, LIMIT_S)

    def wait_for_workers(self, count: int) -> None:
        """Wait until this many workers consume the queue."""
        self.wait_until(lambda: self.consumers() == count, f"{count} workers")

    def wait_until(self, condition: Callable[[], Any], what: str, limit_s: float = LIMIT_S) -> Any:
        limit = time.monotonic() + limit_s
        while not (value := condition()):
            assert time.monotonic() < limit, f"{what} not within {limit_s} s: {self.logs()}"
            time.sleep(0.02)
        return value

    def consumers(self) -> int:
        with self.redis() as client:
            clients = client.client_list()
        return sum(1 for one in clients if one["cmd"] == "brpop" and "b" in one["flags"])

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.redis_url)

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(query, parameters).fetchall()

    def logs(self) -> str:
        return "\n".join(f"--- {name}\n{self.stack.log(name)[-3000:]}" for name in self.stack.processes)


async def until(condition: Callable[[], Any], limit_s: float = 200) -> Any:
    """What the condition returns, once it is true; a process that it asks may end meanwhile."""
    async with asyncio.timeout(limit_s):
        while True:
            with contextlib.suppress(psutil.NoSuchProcess):
                if found := condition():
                    return found
            await asyncio.sleep(0.05)
