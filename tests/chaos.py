"""Load with random faults: `make chaos`. Prints the history checker's report at the end.

    CHAOS_SECONDS (600)   duration of the faults; afterwards every run has time to end
    CHAOS_SEED            repeats a schedule; printed at the start

Faults: workers, web and sweeper are killed or paused, Valkey crashes or loses its data, Postgres restarts, the network
between one worker and both services fails, runs are stopped, clients reconnect. All servers listen on loopback.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import httpx2

from tests.e2e.client import ContractError
from tests.faults.cluster import Cluster
from tests.faults.history import Report
from tests.faults.proxy import Proxy
from tests.faults.scenario import Scenario, WatchedTurn

SECONDS = float(os.environ.get("CHAOS_SECONDS", "600"))
SEED = int(os.environ.get("CHAOS_SEED", str(time.time_ns() % 1_000_000)))
TABS = 12
SETTLE_S = 240.0
UNAVAILABLE = (ContractError, httpx2.HTTPError, AssertionError)


class Chaos:
    def __init__(self, cluster: Cluster, scenario: Scenario, cable: tuple[Proxy, Proxy], seed: int) -> None:
        self.cluster = cluster
        self.scenario = scenario
        self.cable = cable
        self.random = random.Random(seed)
        self.until = time.monotonic() + SECONDS
        self.done: Counter[str] = Counter()
        self.faults: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
            "worker killed": (6, self.kill_worker),
            "worker drained": (3, self.drain_worker),
            "worker frozen": (2, self.freeze_worker),
            "cable cut": (3, self.cut_cable),
            "cable slow": (2, self.slow_cable),
            "connections reset": (3, self.reset_connections),
            "web killed": (3, self.kill_web),
            "web drained": (2, self.drain_web),
            "sweeper killed": (2, self.kill_sweeper),
            "Valkey killed": (1, self.crash_valkey),
            "Valkey emptied": (1, self.empty_valkey),
            "Postgres restarted": (1, self.restart_postgres),
        }

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self.until

    async def run(self) -> Report:
        await asyncio.gather(self.break_things(), *(self.talk() for _ in range(TABS)))
        await asyncio.to_thread(self.mend)
        return await self.scenario.check(SETTLE_S)

    # Faults

    async def break_things(self) -> None:
        names = list(self.faults)
        while self.is_on:
            await asyncio.sleep(self.random.uniform(1, 6))
            (name,) = self.random.choices(names, [self.faults[name][0] for name in names])
            print(f"{SECONDS - (self.until - time.monotonic()):6.1f} s  {name}", flush=True)
            self.done[name] += 1
            self.scenario.record_fault()
            await self.faults[name][1]()

    async def kill_worker(self) -> None:
        await self.replace(self.any_worker(), signal.SIGKILL)

    async def drain_worker(self) -> None:
        await self.replace(self.any_worker(), signal.SIGTERM)

    async def freeze_worker(self) -> None:
        name = self.any_worker()
        self.cluster.pause(name)
        await asyncio.sleep(self.random.uniform(1, 20))
        self.cluster.resume(name)

    async def cut_cable(self) -> None:
        for proxy in self.cable:
            proxy.blackhole()
        await asyncio.sleep(self.random.uniform(1, 20))
        for proxy in self.cable:
            proxy.heal()

    async def slow_cable(self) -> None:
        for proxy in self.cable:
            proxy.delay(self.random.uniform(0.05, 0.5))
        await asyncio.sleep(self.random.uniform(1, 10))
        for proxy in self.cable:
            proxy.heal()

    async def reset_connections(self) -> None:
        self.random.choice(self.cable).reset()

    async def kill_web(self) -> None:
        await self.replace("web", signal.SIGKILL)

    async def drain_web(self) -> None:
        await self.replace("web", signal.SIGTERM)

    async def kill_sweeper(self) -> None:
        await self.replace("sweeper", signal.SIGKILL)

    async def crash_valkey(self) -> None:
        await self.restart_service(signal.SIGKILL, "valkey")

    async def restart_postgres(self) -> None:
        await self.restart_service(signal.SIGINT, "postgres")

    async def empty_valkey(self) -> None:
        with self.cluster.redis() as client:
            client.flushall()

    async def restart_service(self, number: signal.Signals, name: str) -> None:
        services = self.cluster.services
        server = services.valkey if name == "valkey" else services.postgres
        await asyncio.to_thread(services.end, server, number)
        await asyncio.sleep(self.random.uniform(0, 3))
        await asyncio.to_thread(services.launch, server)
        await asyncio.to_thread(services.wait_for, server)

    async def replace(self, name: str, number: signal.Signals) -> None:
        """End the process and restart it after a moment, as a supervisor does."""
        process = self.cluster.stack.processes[name]
        process.send_signal(number)
        await asyncio.to_thread(process.wait, 60)
        await asyncio.sleep(self.random.uniform(0, 2))
        self.start(name)

    def start(self, name: str) -> None:
        postgres, valkey = self.cable
        line = name.partition(".")[0]
        cabled = {"DATABASE_URL": postgres.url, "REDIS_URL": valkey.url} if name == "llm.2" else {}
        self.cluster.stack.start(line, name, cabled)

    def any_worker(self) -> str:
        return self.random.choice(["llm.1", "llm.2"])

    def mend(self) -> None:
        for proxy in self.cable:
            proxy.heal()
        for name, process in list(self.cluster.stack.processes.items()):
            process.send_signal(signal.SIGCONT)
            if process.poll() is not None:
                print(f"{name} had exited:\n{self.cluster.stack.log(name)[-2000:]}")
                self.done[f"{name} exited"] += 1
                self.start(name)
        self.cluster.stack.wait_until_ready()

    # Clients

    async def talk(self) -> None:
        """Send turns one after the other; read them, reconnect and stop runs at random."""
        while self.is_on:
            try:
                question = await self.scenario.ask(models=self.some_models())
            except UNAVAILABLE:
                # Rejected, or disconnected before the response: it is unknown whether the turn was accepted.
                self.done["sends failed"] += 1
                await asyncio.sleep(1)
                continue
            self.done["sends accepted"] += 1
            await self.read(question)

    async def read(self, question: WatchedTurn) -> None:
        runs = [run["id"] for run in question.turn["runs"]]
        while self.is_on and not all(stopped(question, run) for run in runs):
            await asyncio.sleep(self.random.uniform(0.2, 3))
            chance = self.random.random()
            if chance < 0.05:
                with contextlib.suppress(httpx2.HTTPError):
                    await self.scenario.stop(self.random.choice(runs))
            elif chance < 0.25 and question.watcher.socket:
                question.watcher.socket.abandon()
        if all(stopped(question, run) for run in runs):
            await question.watcher.stop()

    def some_models(self) -> list[str]:
        return self.random.sample(["alpha", "beta", "gamma"], self.random.choice([1, 1, 2]))


def stopped(question: WatchedTurn, run: str) -> bool:
    view = question.watcher.views.get(run)
    return view is not None and view.stop_reason is not None


@contextlib.contextmanager
def running_cluster() -> Iterator[tuple[Cluster, tuple[Proxy, Proxy]]]:
    """A cluster, and the proxies through which llm.2 reaches both services."""
    with Cluster.running(durable_valkey=True, DRAIN_GRACE="1") as cluster:
        cluster.upstream.reply({"words": 40, "every_s": 0.05}, {"pause_s": 1}, {"words": 60, "every_s": 0.05})
        with Proxy.before(cluster.database_url) as postgres, Proxy.before(cluster.redis_url) as valkey:
            yield cluster, (postgres, valkey)


async def main() -> int:
    print(f"CHAOS_SEED={SEED} CHAOS_SECONDS={SECONDS:.0f}", flush=True)
    with running_cluster() as (cluster, cable):
        async with Scenario.of(cluster) as scenario:
            chaos = Chaos(cluster, scenario, cable, SEED)
            cluster.kill("llm.2")
            chaos.start("llm.2")
            try:
                report = await chaos.run()
            except AssertionError as broken:
                print(f"CHAOS_SEED={SEED}\n{broken}")
                return 1
    print(f"\n{report}\n{dict(chaos.done)}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
