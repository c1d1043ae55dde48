"""Whatever 40 runs of one user do side by side, another's first token comes about as soon as alone, and no process keeps the memory."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import httpx2
import psutil
import psycopg
import pytest
from websockets.asyncio.client import ClientConnection, connect

from chat.infrastructure.gc_tuning import FREEING_PAUSE_S
from llm_worker.tools.registry import TOOLS
from tests.api_server import ApiServer
from tests.e2e.client import Client
from tests.matrix import crowd
from tests.matrix.crowd import Bystander, Finding
from tests.matrix.largest_inputs import Place, candidates
from tests.matrix.operations import operations
from tests.matrix.worker_works import Work, publish, servers, works
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream
from tests.upstream_steps import Rule

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.timeout(3600)]

ASKED = "Attack"
LIMITS = {"INGEST_CONCURRENCY": "2", "MCP_COMMANDS": sys.executable}
GROWTH_MIB = 100
PROCESSES = ("web", "llm", "ingest")
FILE_BYTES = 5 * 1024 * 1024
PATIENCE_S = 100
# What one user's runs compute takes turns, so many of them take minutes.
LONGEST_S = 6
# After which requests are stored, files are read, and what nothing refers to is freed.
SETTLING_S = 300
READING = "SELECT FROM knowledge_file WHERE status NOT IN ('ready', 'failed')"


class World(NamedTuple):
    """place: what alice's sessions are bound to, as fields of theirs."""

    stack: Stack
    works: list[Work]
    alice: str
    place: dict[str, Any]
    bystander: Bystander

    def disturb(self, work: Work, times: int = crowd.TIMES) -> Finding:
        self.stack.upstream.rules[:] = [Rule([work.step], contains=ASKED, after_tools=0)]
        return crowd.disturb(self.bystander, work.tool, partial(self._run_side_by_side, work, times))

    def upload(self, times: int = crowd.TIMES) -> Finding:
        """The largest files."""
        [operation] = [one for one in operations() if one.id == "files_create"]
        place = Place(self.stack.base_url.removeprefix("http://"), self.alice, {}, "", FILE_BYTES)
        request = next(candidates(operation, place))
        return crowd.disturb(self.bystander, operation.id, crowd.requests(place.address, request, times))

    async def _run_side_by_side(self, work: Work, times: int) -> Counter[str]:
        """Ask in so many sessions, decide on what waits, and stop what takes long. Counts the ends of runs and of their calls."""
        url, headers = self.stack.base_url, {"Authorization": f"Token {self.alice}"}
        async with (
            httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False, headers=headers) as http,
            connect(
                f"{url.replace('http', 'ws')}/ws/", additional_headers=headers, proxy=None, max_size=None
            ) as socket,
            asyncio.timeout(PATIENCE_S),
        ):
            alice = Client(url, self.alice, http)
            sessions = [await alice.new_session(**self.place) for _ in range(times)]
            for session in sessions:
                await socket.send(json.dumps({"type": "subscribe", "session": session["id"]}))
            await _read(socket, "subscribed", times)
            turns = await asyncio.gather(*(alice.ask(session, ASKED) for session in sessions))
            async with asyncio.TaskGroup() as tasks:
                deciding = tasks.create_task(_decide(alice, approved=work.end != "refused"))
                ending = tasks.create_task(_read(socket, "overall_stop", times))
                await asyncio.wait({ending}, timeout=LONGEST_S if times > 1 else None)
                for turn in turns:
                    await socket.send(json.dumps({"type": "stop", "turn": turn["turn"]}))
                stops = await ending
                deciding.cancel()
            answer = (await alice.branch(sessions[-1]))[-1]
        calls = [f"{call['name']} {call['status']}" for call in answer["tool_calls"]]
        return Counter([*(stop["stop_reason"] for stop in stops), *calls])


async def _decide(alice: Client, *, approved: bool) -> None:
    while True:
        for waiting in await alice.call("GET", "approvals/"):
            body = {"approved": approved}
            await alice.call("POST", f"tool-calls/{waiting['tool_call']}/approval/", json=body, status=202)
        await asyncio.sleep(0.2)


async def _read(socket: ClientConnection, kind: str, count: int) -> list[dict[str, Any]]:
    """Read until so many frames of this type have come."""
    found: list[dict[str, Any]] = []
    while len(found) < count:
        frames = [json.loads(line) for line in str(await socket.recv()).split("\n") if line]
        found += [frame for frame in frames if frame["type"] == kind]
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Web and one worker, with the product's settings."""
    services = Services().start()
    folder = tmp_path_factory.mktemp("world")
    with Upstream() as upstream, SearchServer() as searching, ApiServer() as api:
        stack = Stack(services, upstream, searching)
        stack.environment.update(LIMITS)
        stack.environment["URL_ALLOWED_HOSTS"] += f",{api.host}"
        stack.prepare()
        script = f"from tests.matrix.searched_world import write; write({str(folder / 'ids.json')!r})"
        stack.manage("shell", "-v", "0", "-c", script)
        stack.start(
            f"python -m tests.mcp_server http {stack.mcp_port}", "mcp", {"JOURNAL": str(folder / "j")}
        )
        for name in PROCESSES:
            stack.start(name)
        try:
            stack.wait_until_ready()
            ids = json.loads((folder / "ids.json").read_text())
            page = publish(searching)
            yield _world(stack, list(works(ids, page)), ids, servers(stack.mcp_port, api, folder))
        finally:
            stack.stop()
            services.stop()


def _world(stack: Stack, every: list[Work], ids: dict[str, str], entered: list[dict[str, Any]]) -> World:
    with httpx2.Client(base_url=f"{stack.base_url}/api/", timeout=60, trust_env=False) as http:

        def ask(method: str, path: str, who: str, **body: Any) -> Any:
            response = http.request(
                method, path, json=body or None, headers={"Authorization": f"Token {who}"}
            )
            assert response.status_code < 300, response.text
            return response.json()

        def log_in(name: str) -> str:
            answer = http.post("auth/token/", json={"username": name, "password": name})
            return str(answer.json()["token"])

        root, alice = log_in("root"), log_in("alice")
        offered = [f"{server['name']}__*" for server in entered]
        for server in entered:
            ask("POST", "mcp-servers/", root, **server)
        stack.upstream.wait_for(
            lambda: {one["status"] for one in ask("GET", "mcp-servers/", root)} == {"ready"}
        )
        agent = ask("POST", "agents/", alice, name="All", prompt="Do all.", tools=[*TOOLS, *offered])
        place = {
            "agent": agent["id"],
            "project": ids["project"],
            "knowledge_bases": [ids["knowledge_base"]],
        }
        address = stack.base_url.removeprefix("http://")
        return World(stack, every, alice, place, Bystander(address, log_in("bob"), reads=True))


def resident_mib(stack: Stack) -> dict[str, int]:
    """Of each process with those that it has started."""
    found = {}
    for name in PROCESSES:
        process = psutil.Process(stack.processes[name].pid)
        every = [process, *process.children(recursive=True)]
        found[name] = sum(one.memory_info().rss for one in every) // 1024**2
    return found


def settled(stack: Stack, below: Mapping[str, int] | None = None) -> dict[str, int]:
    """The memory once no file is being read, and each process has become as small as it does, or as `below`."""
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        stack.upstream.wait_for(lambda: not connection.execute(READING).fetchall(), timeout_s=SETTLING_S)
    least = resident_mib(stack)
    ends = time.monotonic() + 1.5 * FREEING_PAUSE_S
    while time.monotonic() < ends and not (below and all(least[name] < below[name] for name in least)):
        time.sleep(1)
        least = {name: min(mib, least[name]) for name, mib in resident_mib(stack).items()}
    return least


def report(findings: list[Finding], record: Callable[[str, object], None]) -> None:
    slowest = sorted(findings, key=lambda one: -one.slowest_s)[:5]
    record("sampled", "slowest beside: " + ", ".join(f"{one.name} {one.slowest_s:.2f} s" for one in slowest))
    assert {one.name: one.faults for one in findings if one.faults} == {}
    assert {one.name: dict(one.answers) for one in findings if one.answers["error"]} == {}


def test_every_call_of_40_runs_delays_nobody_and_leaves_no_memory(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    # What each loads stays, and the threads and connections for so many.
    for work in world.works:
        assert world.disturb(work, times=1).answers == {"finished": 1, f"{work.tool} {work.end}": 1}
    world.disturb(world.works[0])
    world.upload(times=2)
    before = settled(world.stack)
    findings = [world.upload()]
    for work in world.works:
        findings.append(world.disturb(work))
        print(f"{findings[-1]}, {resident_mib(world.stack)}", flush=True)
    after = settled(world.stack, {name: mib + GROWTH_MIB for name, mib in before.items()})
    record_property("sampled", f"MiB before {before}, after {after}")
    report(findings, record_property)
    assert all(after[name] - before[name] < GROWTH_MIB for name in PROCESSES), (before, after)
