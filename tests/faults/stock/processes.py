"""The processes of the stock application, which share a cluster's Valkey and upstream, and its websocket client."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from uuid import uuid4

import redis
from websockets.asyncio.client import ClientConnection, connect

from config.embedded import find_suitable_port
from tests.faults.cluster import LIMIT_S, Cluster
from tests.instance import is_listening
from tests.process_reaper import end_with_this_process
from tests.stack import ROOT

QUEUE = "celery"
CONCURRENCY = 20
_WEB = "-m uvicorn tests.faults.stock.asgi:application --host 127.0.0.1 --loop uvloop --ws websockets-sansio --log-level warning"
_WORKER = f"-m celery -q -A tests.faults.stock.tasks worker -c {CONCURRENCY} --without-gossip --without-mingle -l warning"


class Stock:
    """The processes by name; each leads its own process group."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.upstream = cluster.upstream
        # Database 1 is the cluster's. Pub/sub ignores databases; the channel names differ.
        self.redis_url = cluster.services.valkey.url.removesuffix("/0") + "/3"
        self.port = find_suitable_port("127.0.0.1")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.faults.stock.settings",
            "STOCK_REDIS_URL": self.redis_url,
            "STOCK_LAYER_URL": self.redis_url,
            "STOCK_LLM_BASE_URL": cluster.upstream.base_url,
        }

    @classmethod
    @contextlib.contextmanager
    def running(
        cls, cluster: Cluster, *, layer_of_web: str | None = None, **environment: str
    ) -> Iterator["Stock"]:
        """One web process and one worker. layer_of_web: the Redis of its channel layer, if not the common one."""
        stock = cls(cluster)
        stock.environment |= environment
        stock.upstream.reset()
        with stock.redis() as client:
            client.flushdb()
        try:
            stock.start("web", f"{_WEB} --port {stock.port}", STOCK_LAYER_URL=layer_of_web or stock.redis_url)
            stock.start_worker("worker.1")
            cluster.wait_until(lambda: is_listening(stock.port), "the stock web process")
            yield stock
        finally:
            stock.kill(*stock.processes)
            # Shown when the test fails.
            for path in sorted(cluster.stack.directory.glob("stock.*.log")):
                print(f"--- {path.name}\n{path.read_text()[-3000:]}")
                path.unlink()

    def start(self, name: str, command: str, **environment: str) -> None:
        with (self.cluster.stack.directory / f"stock.{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *command.split()], cwd=ROOT, env=self.environment | environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        end_with_this_process(self.processes[name])

    def start_worker(self, name: str) -> None:
        """Start another worker with Celery's default pool; returns when it consumes the queue."""
        consumers = self._consumers()
        self.start(name, f"{_WORKER} -n {name}@%h")
        self.cluster.wait_until(lambda: self._consumers() > consumers, name)

    def kill(self, *names: str) -> None:
        """Kill the process group with SIGKILL, as when its container ends."""
        for name in list(names):
            process = self.processes.pop(name)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def send(self, run: str, text: str, times: int) -> None:
        """Send the same task message several times, as an at-least-once broker may deliver it."""
        from celery import Celery

        with Celery("stock", broker=self.redis_url) as app:
            for _ in range(times):
                app.send_task("stock.answer", args=[run, text], task_id=run)

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.redis_url, decode_responses=True)

    def saved(self, run: str) -> list[str]:
        """The saved answers of a run."""
        with self.redis() as client:
            return client.lrange(f"stock:answers:{run}", 0, -1)  # type: ignore[return-value]

    def undone(self) -> tuple[int, int]:
        """The numbers of queued and of unacknowledged task messages."""
        with self.redis() as client:
            return client.llen(QUEUE), client.hlen("unacked")  # type: ignore[return-value]

    @contextlib.asynccontextmanager
    async def screens(self, number: int) -> AsyncIterator[list["Screen"]]:
        async with contextlib.AsyncExitStack() as stack:
            screens = []
            for _ in range(number):
                run = uuid4().hex
                address = f"ws://127.0.0.1:{self.port}/{run}"
                connection = await stack.enter_async_context(connect(address, proxy=None))
                screens.append(await stack.enter_async_context(Screen(run, connection)))
            yield screens

    def _consumers(self) -> int:
        with self.redis() as client:
            return sum(1 for one in client.client_list() if one["cmd"] == "brpop" and one["db"] == "3")


class Screen:
    """A client of the stock application that collects everything it receives."""

    def __init__(self, run: str, connection: ClientConnection) -> None:
        self.run = run
        self.text = ""
        self.kinds: list[str] = []
        self._connection = connection
        self._changed = asyncio.Event()

    async def __aenter__(self) -> "Screen":
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def ask(self, text: str = "Count") -> None:
        await self._connection.send(json.dumps({"text": text}))

    async def showing(self, text: str) -> None:
        await self._until(lambda: text in self.text)

    async def ended(self, times: int = 1) -> str:
        """Wait for this many `end` messages; returns the text."""
        await self._until(lambda: self.kinds.count("end") == times)
        return self.text

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _read(self) -> None:
        async for frame in self._connection:
            event = json.loads(frame)
            self.kinds.append(event["type"])
            self.text += event.get("text", "")
            self._changed.set()
