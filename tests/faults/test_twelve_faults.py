"""Web, the worker, Valkey and Postgres are killed, frozen and restarted while twenty readers follow an answer each: F36.

One process of each part, the smallest deployment: nobody takes over while it is away. The table in docs/operations.md has what
this measured.
"""

import asyncio
import contextlib
import random
import re
import signal
import subprocess
import time
from dataclasses import dataclass

import httpx2
import psutil
import pytest

from chat.models.lease import RUN_LEASE
from chat.sweeper.process import DISTRUST_S
from tests.e2e.client import Frame, Socket
from tests.faults.cluster import LIMIT_S, Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn, words
from tests.faults.watcher import Watcher

WORDS = 400
EVERY_S = 0.05
# The fault comes after so many words.
BEFORE = 60
READERS = 20
FROZEN_S = 5.0
# As in web/static/chat/server/socket.js.
FIRST_RETRY_S = 0.3
LONGEST_RETRY_S = 10.0
# Beyond the time that the part is away: runs whose worker is gone are taken over, and readers come back.
LONGEST_SILENCE_S = RUN_LEASE.lease_s + DISTRUST_S + LONGEST_RETRY_S

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


class Reader(Watcher):
    """Comes back after the pauses of the page."""

    failures = 0

    def pause_s(self, ended: Socket | None) -> float:
        if ended and ended.frames:
            self.failures = 0
        pause_s = min(FIRST_RETRY_S * 2**self.failures, LONGEST_RETRY_S)
        self.failures += 1
        asked = re.search(r"retry_after_s=([\d.]+)", (ended and ended.connection.close_reason) or "")
        return float(asked[1]) if asked else pause_s * random.uniform(0.5, 1)


@dataclass
class Part:
    """A process that breaks and comes back, with the processes that it has started."""

    cluster: Cluster
    name: str

    def kill(self) -> None:
        self._send(signal.SIGKILL)
        self._start_again()

    def freeze(self) -> None:
        self._send(signal.SIGSTOP)
        time.sleep(FROZEN_S)
        self._send(signal.SIGCONT)

    def restart(self) -> None:
        # At SIGTERM, Postgres would wait until all clients have left.
        self._process.send_signal(signal.SIGINT if self.name == "postgres" else signal.SIGTERM)
        self._start_again()

    @property
    def _process(self) -> "subprocess.Popen[bytes]":
        return (self.cluster.services.processes | self.cluster.stack.processes)[self.name]

    def _send(self, number: signal.Signals) -> None:
        process = psutil.Process(self._process.pid)
        for each in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(number)

    def _start_again(self) -> None:
        """As a supervisor does, at once; returns when it works."""
        self._process.wait(LIMIT_S)
        stack, services = self.cluster.stack, self.cluster.services
        if self.name in services.processes:
            server = {"postgres": services.postgres, "valkey": services.valkey}[self.name]
            services.launch(server)
            services.wait_for(server)
        else:
            stack.start(*stack.lines[self.name][:1], self.name)
            stack.wait_until_ready()
            self.cluster.wait_for_workers(1)


@pytest.fixture
def cluster(durable_cluster: Cluster) -> Cluster:
    durable_cluster.restore(["llm.1"])
    return durable_cluster


@pytest.mark.parametrize("fault", ["kill", "freeze", "restart"])
@pytest.mark.parametrize("name", ["web", "llm.1", "valkey", "postgres"])
async def test_twenty_readers_lose_and_double_no_word(
    cluster: Cluster, scenario: Scenario, name: str, fault: str
) -> None:
    scenario.watching = Reader
    cluster.upstream.reply({"words": 10}, contains="And now?")
    cluster.upstream.reply({"wait": "all are asked"}, {"words": WORDS, "every_s": EVERY_S})
    other = await scenario.client.new_session()
    questions = await scenario.ask_many(READERS)
    await asyncio.to_thread(cluster.upstream.wait_for_requests, READERS)
    cluster.upstream.release("all are asked")
    for question in questions:
        await question.showing(f" {BEFORE} ")
    assert not any(question.view.stop_reason for question in questions)
    scenario.record_fault()
    asking = asyncio.create_task(asked_meanwhile(scenario, other))
    await asyncio.to_thread(getattr(Part(cluster, name), fault))
    back_at = time.monotonic()
    began_at = await asking
    for question in questions:
        view = await question.ended()
        _, answer = await scenario.client.branch(question.session)
        assert (view.stop_reason, view.text, answer["text"]) == ("finished", words(WORDS), words(WORDS))
    report = await scenario.check()
    assert report.figures["runs"] == {"completed": READERS + 1}
    [silent_s] = report.figures["longest silence"]
    went_on_at = [first_packet_after(back_at, question) for question in questions]
    away_s = back_at - scenario.faults[0]
    good_s = max(began_at, *went_on_at) - scenario.faults[0]
    for what, measured_s in {"away": away_s, "longest silence": silent_s, "to all good": good_s}.items():
        record("F36", f"{name}, {fault}: {what}", measured_s)
    assert silent_s < away_s + LONGEST_SILENCE_S


async def asked_meanwhile(scenario: Scenario, session: Frame) -> float:
    """Send another question again and again until it is accepted. Returns when its first word was shown."""
    scenario.sessions.append(session["id"])
    watcher = await scenario.watch(session["id"])
    body = {"text": "And now?", "client_message_id": "meanwhile"}
    answer = None
    while answer is None or not answer.is_success:
        await asyncio.sleep(0.1)
        with contextlib.suppress(httpx2.TransportError):
            answer = await scenario.client.http.post(f"/api/sessions/{session['id']}/turns/", json=body)
            assert answer.status_code in (200, 202, 503)
    turn = answer.json()
    scenario.accepted.append(turn | {"session": session["id"], "client_message_id": "meanwhile"})
    watcher.expect(turn["runs"][0]["id"])
    await watcher.showing(turn["runs"][0]["id"], "0 ")
    return time.monotonic()


def first_packet_after(moment: float, question: WatchedTurn) -> float:
    frames = [frame for log in question.watcher.log.sockets for frame in log.frames]
    return min(at for at, frame in frames if at > moment and frame["type"] == "packet")
