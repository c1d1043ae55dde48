"""Calls run side by side, and nothing that a tool does ends a run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chat.transcript.entries import Document
from llm_worker.tool_calls import tool_round
from llm_worker.tool_calls.calls import CallResult, PlannedCall
from llm_worker.tool_calls.tool_round import execute
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult

pytestmark = pytest.mark.pure

# Generous: only a test that fails waits for it.
LIMIT_S = 60.0
PAGE = Document(0, "p", "Page", "Text.", "http://localhost/p")


@dataclass
class Doing:
    """A tool that does what it is told."""

    do: Callable[[], Awaitable[ToolResult]]
    name: str = "doing"
    is_idempotent: bool = True
    time_limit_s: float | None = None
    searches: bool = False
    description: str = ""
    guidance: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def is_available(self) -> bool:
        return True

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> None:
        return None

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        return await self.do()


@dataclass
class RecordingHost:
    """Remembers what it was told. Gives every document the next number."""

    now: datetime = datetime(2026, 11, 22, tzinfo=UTC)
    begun: list[str] = field(default_factory=list)
    ended: list[tuple[int, str]] = field(default_factory=list)
    numbered: int = 0

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        await asyncio.sleep(0)
        self.begun += [call.id for call in calls]

    def context(self, tab: int) -> ToolContext:
        return self

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        raise NotImplementedError

    def number(self, documents: Sequence[Document]) -> list[Document]:
        self.numbered += len(documents)
        first = self.numbered - len(documents) + 1
        return [replace(document, number=first + place) for place, document in enumerate(documents)]

    async def finished(self, tab: int, result: CallResult) -> None:
        await asyncio.sleep(0)
        self.ended.append((tab, result.status))


def calls_of(*tools: Doing) -> list[PlannedCall]:
    return [PlannedCall(str(number), tool.name, {}, tool) for number, tool in enumerate(tools)]


def saying(outcome: ToolResult) -> Doing:
    async def do() -> ToolResult:
        return outcome

    return Doing(do)


def raising(error: BaseException) -> Doing:
    async def do() -> ToolResult:
        raise error

    return Doing(do)


async def for_ever() -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param(saying(ToolResult("Noon.")), CallResult("completed", "Noon."), id="an answer"),
        pytest.param(saying(ToolResult()), CallResult("completed", "doing returned nothing."), id="no answer"),
        pytest.param(saying(ToolResult("a\x00")), CallResult("completed", "a\ufffd"), id="what no database takes"),
        pytest.param(raising(ToolFailed("No.")), CallResult("failed", "No."), id="a reason"),
        pytest.param(raising(ToolFailed()), CallResult("failed", "doing failed."), id="no reason"),
        pytest.param(
            raising(KeyError("secret")), CallResult("failed", "doing failed because of an internal error."), id="a bug"
        ),
        pytest.param(
            raising(asyncio.CancelledError()),
            CallResult("failed", "doing failed because of an internal error."),
            id="a tool that cancels itself",
        ),
        pytest.param(
            Doing(for_ever, time_limit_s=0.01), CallResult("failed", "doing did not finish within 0.01 seconds."),
            id="no end",
        ),
        pytest.param(
            Doing(for_ever, is_idempotent=False, time_limit_s=0.01),
            CallResult("unknown", "doing did not finish within 0.01 seconds; it may or may not have taken effect."),
            id="no end of what changes something",
        ),
    ],
)  # fmt: skip
async def test_a_call_comes_to(tool: Doing, expected: CallResult) -> None:
    host = RecordingHost()
    assert await execute(calls_of(tool), host, LIMIT_S) == [expected]
    assert (host.begun, host.ended) == (["0"], [(0, expected.status)])


async def test_a_bug_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        await execute(calls_of(raising(KeyError("x"))), RecordingHost(), LIMIT_S)
    [record] = caplog.records
    assert (record.getMessage(), record.exc_info and record.exc_info[0]) == ("tool doing broke", KeyError)


async def test_the_general_limit_is_for_tools_without_their_own() -> None:
    [result] = await execute(calls_of(Doing(for_ever)), RecordingHost(), 0.02)
    assert result.response == "doing did not finish within 0.02 seconds."


async def test_documents_are_numbered_and_rendered() -> None:
    found = saying(ToolResult(documents=(PAGE, replace(PAGE, document_id="q", contents="More.\x00"))))
    [result] = await execute(calls_of(found), RecordingHost(numbered=4), LIMIT_S)
    assert [(document.number, document.contents) for document in result.documents] == [
        (5, "Text."),
        (6, "More.\ufffd"),
    ]
    assert '"document": 5' in result.response
    assert "More.\ufffd" in result.response


async def test_calls_run_side_by_side_and_end_in_their_own_order() -> None:
    second_has_ended = asyncio.Event()

    async def first() -> ToolResult:
        await second_has_ended.wait()
        return ToolResult("first")

    async def second() -> ToolResult:
        second_has_ended.set()
        return ToolResult("second")

    host = RecordingHost()
    result = await execute(calls_of(Doing(first), Doing(second)), host, LIMIT_S)
    assert [one.response for one in result] == ["first", "second"]
    assert host.ended == [(1, "completed"), (0, "completed")]


async def test_nothing_runs_before_all_calls_are_stored() -> None:
    host = RecordingHost()
    seen: list[list[str]] = []

    async def do() -> ToolResult:
        seen.append(list(host.begun))
        return ToolResult("x")

    await execute(calls_of(Doing(do), Doing(do)), host, LIMIT_S)
    assert seen == [["0", "1"], ["0", "1"]]


async def test_what_is_decided_does_not_run() -> None:
    kept = CallResult("completed", "Before.")
    decided = [replace(call, result=kept) for call in calls_of(raising(AssertionError()))]
    host = RecordingHost()
    assert await execute([*decided, PlannedCall("1", "gone", {}, None)], host, LIMIT_S) == [
        kept,
        CallResult("failed", "There is no tool named gone."),
    ]
    assert host.ended == [(0, "completed"), (1, "failed")]


async def test_a_stop_cancels_every_tool_and_waits_until_they_have_let_go() -> None:
    begun, let_go = asyncio.Semaphore(0), []

    async def do() -> ToolResult:
        begun.release()
        try:
            return await for_ever()
        finally:
            await asyncio.sleep(0)
            let_go.append(True)

    host = RecordingHost()
    running = asyncio.create_task(execute(calls_of(Doing(do), Doing(do)), host, LIMIT_S))
    await begun.acquire()
    await begun.acquire()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (let_go, host.ended) == ([True, True], [])


async def test_a_tool_that_does_not_heed_a_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_round, "CANCEL_GRACE_S", 0.01)
    begun, finish = asyncio.Event(), asyncio.Event()

    async def do() -> ToolResult:
        begun.set()
        with suppress(asyncio.CancelledError):
            await finish.wait()
        await finish.wait()
        raise KeyError("nobody hears it")

    host = RecordingHost()
    running = asyncio.create_task(execute(calls_of(Doing(do)), host, LIMIT_S))
    await begun.wait()
    [stubborn] = [task for task in asyncio.all_tasks() if task.get_name() == "tool doing"]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not stubborn.done()
    finish.set()
    await asyncio.wait({stubborn})
    assert host.ended == []


async def test_what_the_host_raises_ends_the_round_and_the_other_calls() -> None:
    class Full(Exception):
        pass

    class Refusing(RecordingHost):
        async def finished(self, tab: int, result: CallResult) -> None:
            raise Full

    cancelled = asyncio.Event()

    async def slow() -> ToolResult:
        try:
            return await for_ever()
        finally:
            cancelled.set()

    with pytest.raises(Full):
        await execute(calls_of(Doing(slow), saying(ToolResult("quick"))), Refusing(), LIMIT_S)
    assert cancelled.is_set()
