"""Whatever one user asks 40 times side by side, another is answered about as soon as alone. New routes and commands join by themselves."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import global_settings

from tests.matrix import crowd
from tests.matrix.crowd import Bystander, Finding
from tests.matrix.largest_inputs import Place, candidates, command
from tests.matrix.operations import OWN, PUBLIC, Operation, operations
from tests.matrix.test_socket import cases
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack, constants
from tests.upstream import Upstream

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

FILE_BYTES = 5 * 1024 * 1024
LIMITS = {"MAX_RUNS_PER_USER": "1000000", "MAX_FILE_BYTES": str(FILE_BYTES)}
# In how many tests all operations are asked: together they take minutes.
PARTS = 4
# Those that cost most: every change asks them.
SAMPLE = {"sessions_export", "knowledge_bases_search", "turns_create"}
SAMPLE_OF_COMMANDS = {"send"}
# What is as long as the rows that it lists, but is not called a list. Of the memory of web before, what it may keep.
LISTS = {"tree_read"}
GROWTH_MIB = 100
# What deletes much comes last: after the commands, too.
LAST = (
    "sessions_bulk",
    "trash_empty",
    "agents_delete",
    "projects_delete",
    "knowledge_bases_delete",
    "openai_responses_delete",
    "openai_conversations_delete",
    "sessions_delete",
)


class World(NamedTuple):
    """staff: the place of a superuser, for what only staff may ask. stack: with web alone."""

    place: Place
    staff: Place
    bystander: Bystander
    stack: Stack

    def disturb(self, operation: Operation, times: int = crowd.TIMES) -> Finding:
        """With the largest request that is not refused as malformed."""
        place = self.staff if operation.access not in (OWN, PUBLIC) else self.place
        requests = list(candidates(operation, place))
        if operation.method == "delete":  # what is tried is gone
            del requests[1:]
        for request in requests[:-1]:
            tried = crowd.disturb(self.bystander, operation.id, crowd.requests(place.address, request, 1))
            if not tried.answers.keys() & {"400", "404", "409"}:
                break
        else:
            request = requests[-1]
        return crowd.disturb(self.bystander, operation.id, crowd.requests(place.address, request, times))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from _worlds(tmp_path_factory)


@pytest.fixture
def untouched_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """In which no test has deleted anything."""
    yield from _worlds(tmp_path_factory)


def _worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Web alone, with the product's settings and the limits of users; nobody answers what is sent."""
    services = Services().start()
    described = tmp_path_factory.mktemp("world") / "world.json"
    with Upstream() as upstream, SearchServer() as searching:
        stack = Stack(services, upstream, searching)
        stack.environment.update(LIMITS)
        stack.prepare()
        script = f"from tests.matrix.filled_world import write; write({str(described)!r})"
        stack.manage("shell", "-v", "0", "-c", script)
        own = constants(MAX_QUEUED_RUNS=10**6, PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS)
        stack.start("web", environment=own)
        try:
            stack.wait_until_ready()
            yield _world(stack, described)
        finally:
            stack.stop()
            services.stop()


def _world(stack: Stack, described: Path) -> World:
    found = json.loads(described.read_text())
    address = stack.base_url.removeprefix("http://")
    place = Place(address, found["owner"], found["ids"], found["exported"], FILE_BYTES)
    return World(place, place._replace(token=found["staff"]), Bystander(address, found["bystander"]), stack)


def order(operation: Operation) -> Any:
    """Reading, then changing, then deleting, what lies deepest first."""
    last = LAST.index(operation.id) if operation.id in LAST else -1
    return last, not operation.is_safe, operation.method == "delete", -operation.path.count("/")


def report(findings: list[Finding], record: Callable[[str, object], None]) -> None:
    """Fails if another was late or refused, or if an operation did nothing for anybody."""
    slowest = sorted(findings, key=lambda one: -one.slowest_s)[:5]
    record("sampled", "slowest beside: " + ", ".join(f"{one.name} {one.slowest_s:.2f} s" for one in slowest))
    for one in findings:
        print(f"{one.name}: {dict(one.answers)}, another's slowest answer {one.slowest_s:.2f} s")
    assert {one.name: one.faults for one in findings if one.faults} == {}
    failed = {one.name: dict(one.answers) for one in findings if one.answers.keys() & {"500", "none", "401"}}
    failed.pop("auth_token", None)
    assert failed == {}


def test_the_costliest_asked_side_by_side_delay_nobody_else(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    chosen = [one for one in sorted(operations(), key=order) if one.id in SAMPLE]
    assert {one.id for one in chosen} == SAMPLE
    findings = [world.disturb(one) for one in chosen]
    report([*findings, *disturb_by_commands(world, SAMPLE_OF_COMMANDS)], record_property)


@pytest.mark.full
def test_every_command_asked_side_by_side_delays_nobody_else(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    report(disturb_by_commands(world, {case.kind for case in cases()}), record_property)


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_every_operation_asked_side_by_side_delays_nobody_else(
    world: World, record_property: Callable[[str, object], None], part: int
) -> None:
    in_order = sorted(operations(), key=order)
    first, end = (len(in_order) * number // PARTS for number in (part, part + 1))
    report([world.disturb(one) for one in in_order[first:end]], record_property)


@pytest.mark.full
def test_lists_as_long_as_they_may_be_delay_nobody_and_leave_no_memory(
    untouched_world: World, record_property: Callable[[str, object], None]
) -> None:
    world = untouched_world
    script = f"from tests.matrix.longest_rows import store; store({dict(world.place.ids)!r})"
    world.stack.manage("shell", "-v", "0", "-c", script)
    lists = [one for one in sorted(operations(), key=order) if one.id in LISTS or one.id.endswith("_list")]
    web = world.stack.processes["web"].pid
    # What each loads stays, and the threads and connections for so many.
    for operation in lists:
        world.disturb(operation, times=1)
    world.disturb(next(one for one in lists if one.id == "groups_list"))
    findings, grown, before = [], {}, resident_mib(web)
    for operation in lists:
        findings.append(world.disturb(operation))
        grown[operation.id] = resident_mib(web) - before
        print(f"{operation.id}: {grown[operation.id]} MiB more, {findings[-1]}", flush=True)
    record_property("sampled", f"web: {before} MiB, then {grown}")
    report(findings, record_property)
    assert max(grown.values()) < GROWTH_MIB, (before, grown)


def resident_mib(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) // 1024


def disturb_by_commands(world: World, kinds: set[str]) -> list[Finding]:
    place = world.place
    return [
        crowd.disturb(
            world.bystander, case.kind, crowd.commands(place.address, place.token, command(case, place.ids))
        )
        for case in cases()
        if case.kind in kinds
    ]
