"""Calls of a round run concurrently, and no failure of a tool ends the run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chat.transcript.entries import Document
from chat.transcript.tools import READ_ONLY, Annotations
from llm_worker.loop import tool_round
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.tool_round import execute
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult

pytestmark = pytest.mark.pure

# Generous: only a test that fails waits for it.
LIMIT_S = 60.0
PAGE = Document(0, "p", "Page", "Text.", "http://localhost/p")


@dataclass
class FunctionTool:
    """A tool that awaits a given function."""

    do: Callable[[], Awaitable[ToolResult]]
    name: str = "doing"
    annotations: Annotations = READ_ONLY
    time_limit_s: float | None = None
    searches: bool = False
    is_callers: bool = False
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
    """Records the calls that began and ended. Gives every document the next number."""

    now: datetime = datetime(2026, 11, 22, tzinfo=UTC)
    started: list[str] = field(default_factory=list)
    ended: list[tuple[int, str]] = field(default_factory=list)
    numbered: int = 0

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        await asyncio.sleep(0)
        self.started += [call.id for call in calls]

    @contextmanager
    def context(self, tab: int) -> Iterator[ToolContext]:
        yield self

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        raise NotImplementedError

    def number(self, documents: Sequence[Document]) -> list[Document]:
        self.numbered += len(documents)
        first = self.numbered - len(documents) + 1
        return [replace(document, number=first + place) for place, document in enumerate(documents)]

    async def finished(self, tab: int, result: CallResult) -> None:
        await asyncio.sleep(0)
        self.ended.append((tab, result.status))


def calls_of(*tools: FunctionTool) -> list[PlannedCall]:
    return [PlannedCall(str(number), tool.name, {}, tool) for number, tool in enumerate(tools)]


def returning(outcome: ToolResult) -> FunctionTool:
    async def do() -> ToolResult:
        return outcome

    return FunctionTool(do)


def raising(error: BaseException) -> FunctionTool:
    async def do() -> ToolResult:
        raise error

    return FunctionTool(do)


async def wait_forever() -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param(returning(ToolResult("Noon.")), CallResult("completed", "Noon."), id="an answer"),
        pytest.param(returning(ToolResult()), CallResult("completed", "doing returned nothing."), id="no answer"),
        pytest.param(returning(ToolResult("a\x00")), CallResult("completed", "a\ufffd"), id="a character that Postgres rejects"),
        pytest.param(raising(ToolFailed("No.")), CallResult("failed", "No."), id="a reason"),
        pytest.param(raising(ToolFailed()), CallResult("failed", "doing failed."), id="no reason"),
        pytest.param(
            raising(KeyError("secret")), CallResult("failed", "doing failed because of an internal error."), id="an internal error"
        ),
        pytest.param(
            raising(asyncio.CancelledError()),
            CallResult("failed", "doing failed because of an internal error."),
            id="a tool that cancels itself",
        ),
        pytest.param(
            FunctionTool(wait_forever, time_limit_s=0.01), CallResult("failed", "doing did not finish within 0.01 seconds."),
            id="a time-out",
        ),
        pytest.param(
            FunctionTool(wait_forever, annotations=Annotations(), time_limit_s=0.01),
            CallResult("unknown", "doing did not finish within 0.01 seconds; it may or may not have taken effect."),
            id="a time-out of a tool that is not idempotent",
        ),
    ],
)  # fmt: skip
async def test_the_result_of_a_call_reflects_how_its_tool_ended(
    tool: FunctionTool, expected: CallResult
) -> None:
    host = RecordingHost()
    assert await execute(calls_of(tool), host, LIMIT_S) == [expected]
    assert (host.started, host.ended) == (["0"], [(0, expected.status)])


async def test_a_bug_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        await execute(calls_of(raising(KeyError("x"))), RecordingHost(), LIMIT_S)
    [record] = caplog.records
    assert (record.getMessage(), record.exc_info and record.exc_info[0]) == ("tool doing broke", KeyError)


async def test_the_general_time_limit_applies_to_tools_without_one() -> None:
    [result] = await execute(calls_of(FunctionTool(wait_forever)), RecordingHost(), 0.02)
    assert result.response == "doing did not finish within 0.02 seconds."


async def test_documents_are_numbered_and_rendered() -> None:
    found = returning(ToolResult(documents=(PAGE, replace(PAGE, document_id="q", contents="More.\x00"))))
    [result] = await execute(calls_of(found), RecordingHost(numbered=4), LIMIT_S)
    assert [(document.number, document.contents) for document in result.documents] == [
        (5, "Text."),
        (6, "More.\ufffd"),
    ]
    assert '"document": 5' in result.response
    assert "More.\ufffd" in result.response


async def test_calls_run_concurrently_and_each_result_is_stored_as_its_call_ends() -> None:
    second_has_ended = asyncio.Event()

    async def first() -> ToolResult:
        await second_has_ended.wait()
        return ToolResult("first")

    async def second() -> ToolResult:
        second_has_ended.set()
        return ToolResult("second")

    host = RecordingHost()
    result = await execute(calls_of(FunctionTool(first), FunctionTool(second)), host, LIMIT_S)
    assert [one.response for one in result] == ["first", "second"]
    assert host.ended == [(1, "completed"), (0, "completed")]


async def test_nothing_runs_before_all_calls_are_stored() -> None:
    host = RecordingHost()
    seen: list[list[str]] = []

    async def do() -> ToolResult:
        seen.append(list(host.started))
        return ToolResult("x")

    await execute(calls_of(FunctionTool(do), FunctionTool(do)), host, LIMIT_S)
    assert seen == [["0", "1"], ["0", "1"]]


async def test_a_call_that_already_has_a_result_does_not_run() -> None:
    kept = CallResult("completed", "Before.")
    decided = [replace(call, result=kept) for call in calls_of(raising(AssertionError()))]
    host = RecordingHost()
    assert await execute([*decided, PlannedCall("1", "gone", {}, None)], host, LIMIT_S) == [
        kept,
        CallResult("failed", "There is no tool named gone."),
    ]
    assert host.ended == [(0, "completed"), (1, "failed")]


async def test_a_stop_cancels_every_tool_and_waits_for_their_cleanup() -> None:
    started, cleaned_up = asyncio.Semaphore(0), []

    async def do() -> ToolResult:
        started.release()
        try:
            return await wait_forever()
        finally:
            await asyncio.sleep(0)
            cleaned_up.append(True)

    host = RecordingHost()
    running = asyncio.create_task(execute(calls_of(FunctionTool(do), FunctionTool(do)), host, LIMIT_S))
    await started.acquire()
    await started.acquire()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (cleaned_up, host.ended) == ([True, True], [])


async def test_a_tool_that_ignores_cancellation_is_abandoned_after_the_grace_period(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_round, "CANCEL_GRACE_S", 0.01)
    started, finish = asyncio.Event(), asyncio.Event()

    async def do() -> ToolResult:
        started.set()
        with suppress(asyncio.CancelledError):
            await finish.wait()
        await finish.wait()
        raise KeyError("not retrieved")

    host = RecordingHost()
    running = asyncio.create_task(execute(calls_of(FunctionTool(do)), host, LIMIT_S))
    await started.wait()
    [ignoring] = [task for task in asyncio.all_tasks() if task.get_name() == "tool doing"]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not ignoring.done()
    finish.set()
    await asyncio.wait({ignoring})
    assert host.ended == []


async def test_an_exception_of_the_host_ends_the_round_and_cancels_the_other_calls() -> None:
    class Full(Exception):
        pass

    class Refusing(RecordingHost):
        async def finished(self, tab: int, result: CallResult) -> None:
            raise Full

    cancelled = asyncio.Event()

    async def slow() -> ToolResult:
        try:
            return await wait_forever()
        finally:
            cancelled.set()

    with pytest.raises(Full):
        await execute(calls_of(FunctionTool(slow), returning(ToolResult("quick"))), Refusing(), LIMIT_S)
    assert cancelled.is_set()
