"""A fault test's turns, watching clients, stops and faults, and the check of the resulting history.

When every accepted turn has ended, history.py checks all that was observed for violated guarantees.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg

from tests.e2e.client import Client, Frame, RunView
from tests.faults.cluster import Cluster
from tests.faults.history import History, Report, check, load
from tests.faults.watcher import LIMIT_S, Watcher

UNFINISHED = """
    SELECT count(*) FROM chat_run JOIN chat_turn ON chat_turn.id = chat_run.turn_id
    WHERE chat_turn.session_id = ANY(%s::uuid[]) AND (announced_at IS NULL OR chat_turn.ended_at IS NULL)"""
_numbers = count(1)


@dataclass
class WatchedTurn:
    """A turn in a session of its own, and the client that watches it."""

    session: Frame
    turn: Frame
    watcher: Watcher

    @property
    def run(self) -> str:
        """The first run's id."""
        return self.turn["runs"][0]["id"]

    @property
    def view(self) -> RunView:
        return self.watcher.views.setdefault(self.run, RunView())

    async def showing(self, text: str = "") -> RunView:
        return await self.watcher.showing(self.run, text)

    async def ended(self, limit_s: float = LIMIT_S) -> RunView:
        return await self.watcher.ended(self.run, limit_s)


class Scenario:
    """watching: how clients watch sessions."""

    watching: type[Watcher] = Watcher

    def __init__(self, cluster: Cluster, client: Client) -> None:
        self.cluster = cluster
        self.upstream = cluster.upstream
        self.client = client
        self.watchers: list[Watcher] = []
        self.accepted: list[Frame] = []
        self.stops: dict[str, float] = {}
        self.faults: list[float] = []
        self.sessions: list[str] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, cluster: Cluster, user: str = "alice") -> AsyncIterator["Scenario"]:
        async with Client.login(cluster.stack.base_url, user, user) as client:
            scenario = cls(cluster, client)
            try:
                yield scenario
            finally:
                await asyncio.gather(*(watcher.stop() for watcher in scenario.watchers))

    async def ask(self, text: str = "Count", *, session: Frame | None = None, **body: Any) -> WatchedTurn:
        """Send a turn in a new session that is watched from the start. The text gets a unique number.

        session: the fields of the new session.
        """
        session = await self.client.new_session(**(session or {}))
        self.sessions.append(session["id"])
        watcher = await self.watch(session["id"])
        turn = await self.client.ask(session, self.make_unique(text), **body)
        self.accepted.append(turn | {"session": session["id"]})
        watcher.expect(*(run["id"] for run in turn["runs"]))
        return WatchedTurn(session, turn, watcher)

    async def ask_many(self, number: int, **body: Any) -> list[WatchedTurn]:
        return list(await asyncio.gather(*(self.ask(**body) for _ in range(number))))

    async def watch(self, session: str, client: Client | None = None) -> Watcher:
        watcher = self.watching(client or self.client, session, f"tab {len(self.watchers) + 1}")
        self.watchers.append(watcher)
        await watcher.start()
        return watcher

    async def stop(self, run: str) -> None:
        """Stop a run. Its time is recorded only if web accepts it: a fault may be active, or the run may have ended."""
        asked_at = time.monotonic()
        answer = await self.client.http.post(f"/api/runs/{run}/cancellation/", json={})
        if answer.is_success and answer.json()["status"] in ("stopping", "stopped"):
            self.stops.setdefault(run, asked_at)

    async def go_on(self, question: WatchedTurn) -> None:
        """Continue the first answer, which was cut at the output limit."""
        await self.client.call("POST", f"runs/{question.run}/continuation/", status=202)

    def record_fault(self) -> None:
        """Record the time of a fault."""
        self.faults.append(time.monotonic())

    def make_unique(self, text: str) -> str:
        return f"{text} ({next(_numbers)})"

    async def settle(self, limit_s: float = LIMIT_S) -> None:
        """Wait until every accepted turn has ended and the upstream has no open request."""
        limit = time.monotonic() + limit_s
        while left := await asyncio.to_thread(self._unfinished):
            assert time.monotonic() < limit, f"{left} runs have not ended: {self.cluster.logs()}"
            await asyncio.sleep(0.05)
        # The history checker reports calls that stay open.
        with contextlib.suppress(AssertionError):
            left_s = max(0.0, limit - time.monotonic())
            await asyncio.to_thread(self.upstream.wait_for, self._is_upstream_quiet, left_s)

    async def check(self, limit_s: float = LIMIT_S) -> Report:
        """Wait until everything has ended and assert that no guarantee was violated."""
        await self.settle(limit_s)
        runs = {run["id"] for turn in self.accepted for run in turn["runs"]}
        for watcher in self.watchers:
            watcher.raise_failure()
            for run in runs & (watcher._known | watcher.views.keys()):
                await watcher.ended(run)
            watcher.log.sockets[-1].open_at_end = watcher.socket is not None
        database = await asyncio.to_thread(load, self.cluster.database_url, self.sessions)
        report = check(
            History(
                [watcher.log for watcher in self.watchers],
                database,
                list(self.upstream.requests),
                accepted=self.accepted,
                stops=self.stops,
                faults=self.faults,
            )
        )
        report.raise_if_violated(self.cluster.logs() if report.violations else "")
        return report

    def _is_upstream_quiet(self) -> bool:
        return all(call.ended is not None for call in self.upstream.requests)

    def _unfinished(self) -> int:
        try:
            return self.cluster.rows(UNFINISHED, self.sessions)[0][0]
        except psycopg.OperationalError:
            return -1


def words(number: int) -> str:
    """The text that the upstream streams for {"words": number}."""
    return "".join(f"{word} " for word in range(number))
