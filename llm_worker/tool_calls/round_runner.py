"""RoundRunner: what stands around a round of calls - its rows, its packets, its numbers, and what agent tools do inside."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from chat.transcript.entries import Call, Document, Entry, Round
from chat.transcript.rebuild import ShownCall, ShownRound, show_call, show_outcome
from llm_worker.brief import Brief, EarlierProgress
from llm_worker.emitter import Emitter
from llm_worker.post_run.context_report import ContextReport
from llm_worker.request.documents import Numbering
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.state import RunState
from llm_worker.step import Models
from llm_worker.tool_calls.calls import CallResult, PlannedCall
from llm_worker.tools.tool import Tool, ToolContext
from llm_worker.upstream.model_request import Request


@dataclass(frozen=True)
class NewRound:
    """A round about to run. number: of the rounds at its place, from 0.  inside: the row of an agent call, if any."""

    number: int
    calls: Sequence[PlannedCall]
    text_before: str
    reasoning: str
    reasoning_ms: int | None
    inside: str


@dataclass(frozen=True)
class AgentReport:
    """What an agent tool wrote for its report, and thought before."""

    report: str = ""
    reasoning: str = ""


class RoundStore(Protocol):
    """Keeps rounds as they go. Returns when it is committed; does not return if the run is not ours any more."""

    async def begin(self, begun: NewRound) -> list[str]:
        """The calls are running; their rows, in tab order."""
        ...

    async def finish(self, row: str, result: CallResult, report: AgentReport) -> None: ...


@dataclass(frozen=True)
class LoopDeps:
    """What a loop works with; the loops inside it work with the same.

    now: of the turn, UTC.  sent: told of the row of the agent call a request is made in, of the request, and how it came about.
    """

    models: Models
    store: RoundStore
    numbering: Numbering
    now: datetime
    tool_limit_s: float
    sent: Callable[[str, Request, ContextReport], None]


Loop = Callable[[Brief, LoopDeps, Emitter], Awaitable[None]]


class RoundRunner:
    """For one round. resumed: it is one that an earlier attempt has begun."""

    def __init__(
        self, brief: Brief, deps: LoopDeps, emitter: Emitter, loop: Loop, resumed: ShownRound | None = None
    ) -> None:
        self.limit_s = deps.tool_limit_s
        self.brief = brief
        self.deps = deps
        self.emitter = emitter
        self.loop = loop
        self.resumed = resumed
        self.rows: list[str] = []
        self._calls: Sequence[PlannedCall] = ()
        self._said = ("", "")  # before the calls: as text, and as reasoning

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        state, blocks = self.emitter.state, self.emitter.blocks
        self._calls, self._said = calls, (state.latest_text, state.reasoning)
        state.has_called = True
        if self.resumed:
            self.rows = [call.id for call in self.resumed.calls]
        else:
            place, inside = len(state.rounds), self.brief.inside
            begun = NewRound(place, calls, *self._said, reasoning_ms=state.reasoning_ms, inside=inside)
            self.rows = await self.deps.store.begin(begun)
        self.emitter.calls_are_stored()
        state.open_round()
        self.emitter.show(blocks.round(len(calls)))
        for tab, call in enumerate(calls):
            self.emitter.show(show_call(blocks, tab, self._shown(tab, call)))

    def work(self, index: int) -> ToolContext:
        return _Work(self, index)

    def number(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        return self.deps.numbering.number(documents)

    async def finished(self, index: int, result: CallResult) -> None:
        kept = self.resumed.calls[index] if self.resumed else None
        if kept and kept.response:
            shown = kept
        else:
            reports, row = self.emitter.state.outermost.reports, self.rows[index]
            inner = reports.get(row)
            report = AgentReport(inner.latest_text, inner.reasoning) if inner else AgentReport()
            await self.deps.store.finish(row, result, report)
            reports.pop(row, None)
            begun = self._shown(index, self._calls[index])
            shown = replace(
                begun,
                response=result.response,
                documents=result.documents,
                status=result.status,
                duration_ms=result.duration_ms,
            )
        self.emitter.show(show_outcome(self.emitter.blocks, index, shown))

    def close(self, results: Sequence[CallResult]) -> None:
        """The round is over; what the calls came to, in tab order."""
        state = self.emitter.state
        calls = tuple(
            Call(call.id, call.name, call.arguments, one.response)
            for call, one in zip(self._calls, results, strict=True)
        )
        self.emitter.show(self.emitter.blocks.close())
        state.rounds.append(Round(calls, *self._said))

    def _shown(self, tab: int, call: PlannedCall) -> ShownCall:
        return ShownCall(self.rows[tab], call.id, call.name, call.arguments, response="")


class _Work:
    """What the call of one tab may use."""

    def __init__(self, hosting: RoundRunner, tab: int) -> None:
        self._hosting = hosting
        self._tab = tab
        self.now = hosting.deps.now

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        hosting, tab = self._hosting, self._tab
        outer = hosting.emitter
        state = RunState(outer=outer.state.outermost)
        inner = outer.within(tab, state)
        outer.state.outermost.reports[hosting.rows[tab]] = state
        begun = hosting.resumed.calls[tab].rounds if hosting.resumed else ()
        brief = replace(
            hosting.brief,
            entries=[Entry("", "user", question, self.now)],
            prompt_parts=PromptParts(system=instructions),
            max_cycles=cycles,
            tools=tools,
            forced_tool="",
            reminder="",
            documents=(),
            earlier=EarlierProgress(rounds=begun),
            inside=hosting.rows[tab],
        )
        try:
            await hosting.loop(brief, hosting.deps, inner)
        finally:
            inner.end()
        return state.latest_text
