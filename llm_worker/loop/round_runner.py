"""RoundRunner: runs one round of tool calls with everything around them: rows, packets, document numbers, agent tools.

tool_round.py runs the calls themselves and knows nothing of these.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from chat.protocol.wire import ToolProgress
from chat.transcript.entries import Call, Document, Entry, Round, SentBack
from chat.transcript.finish import Finish
from chat.transcript.questions import AnyQuestion
from chat.transcript.rebuild import ShownCall, ShownRound, show_call, show_outcome
from chat.transcript.run_options import inner_options
from chat.transcript.token_usage import TokenUsage
from llm_worker.loop.allowance import Allowance, UsedUp
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.call_approval import ApprovalNeeded, without_tools
from llm_worker.loop.call_progress import Progress, ProgressReports
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.context_report import ContextReport
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.state import RunState, Utterance
from llm_worker.loop.step import StreamingModels
from llm_worker.loop.stored_round import AgentReport, NewRound, RoundStore
from llm_worker.loop.tool_round import KeptImages, execute
from llm_worker.request.images import describe_images
from llm_worker.request.numbered_documents import Numbering
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.tools.open_url.run_pages import RunPages
from llm_worker.tools.tool import (
    Knowledge,
    NoKnowledge,
    NoServers,
    NoSources,
    Pages,
    Servers,
    Sources,
    Tool,
    ToolContext,
    ToolFailed,
)
from llm_worker.upstream.model_request import Request

QueryRewriter = Callable[[Sequence[str]], Awaitable[Sequence[str]]]


async def no_rewrites(_: Sequence[str]) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class LoopDeps:
    """The collaborators of a loop and of the loops inside it.

    now: the time of the turn, UTC.  on_request: called with the row of the agent call that sends a request (or ""), the
    request, and the report of how its context was built.  allowance: what the run may still use.  on_usage: called with
    each answered request and its usage.  on_tool_call: called with the tool, status and seconds of each call that ran.
    sources, knowledge, pages, servers: the services that tools may search, read and call.  rewrite_queries: rewrites
    the queries of their searches.
    """

    models: StreamingModels
    store: RoundStore
    numbering: Numbering
    allowance: Allowance
    now: datetime
    tool_limit_s: float
    on_request: Callable[[str, Request, ContextReport], None]
    on_usage: Callable[[Request, TokenUsage], None]
    on_tool_call: Callable[[str, str, float], None] = lambda *_: None
    sources: Sources = field(default_factory=NoSources)
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    pages: Pages = field(default_factory=RunPages)
    servers: Servers = field(default_factory=NoServers)
    rewrite_queries: QueryRewriter = no_rewrites


def _as_it_ran(call: PlannedCall, result: CallResult) -> PlannedCall:
    return call if result.arguments is None else replace(call, arguments=result.arguments)


class RoundStart(NamedTuple):
    """The start of a round. number: its index in the loop, from 0.  before: text shown since the previous round."""

    number: int
    before: Utterance
    sent_back: SentBack | None = None


class LoopAnswer(NamedTuple):
    """The text after the last round of tools, and how its inference ended."""

    text: str
    finish: Finish


Loop = Callable[[Brief, LoopDeps, Emitter], Awaitable[LoopAnswer]]


class RoundRunner:
    """Runs one round. resumed: the same round as an earlier attempt stored it."""

    def __init__(
        self, brief: Brief, deps: LoopDeps, emitter: Emitter, loop: Loop, resumed: ShownRound | None = None
    ) -> None:
        self.brief = brief
        self.deps = deps
        self.emitter = emitter
        self.loop = loop
        self.resumed = resumed
        self.rows: list[str] = []
        self.calls: Sequence[PlannedCall] = ()
        self._start = RoundStart(0, Utterance())

    async def run(self, calls: Sequence[PlannedCall], start: RoundStart) -> Round:
        """Run the calls that have no result yet and return the round as the model sees it. Raises ApprovalNeeded."""
        self._start = start
        outcomes = await execute(calls, self, self.deps.tool_limit_s)
        results = [outcome for outcome in outcomes if outcome is not None]
        if len(results) < len(calls):
            raise ApprovalNeeded
        self.emitter.show(self.emitter.blocks.close())
        done = (
            Call(
                call.id, call.name, _as_it_ran(call, result).arguments, result.response, images=result.images
            )
            for call, result in zip(calls, results, strict=True)
        )
        return Round(tuple(done), start.before.text, start.before.reasoning, start.sent_back)

    # RoundHost, for tool_round.execute

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        self.calls = calls
        self.emitter.state.has_called = True
        if self.resumed:
            self.rows = [call.id for call in self.resumed.calls]
            by_row = dict(zip(self.rows, calls, strict=True))
            if approved := {row: call for row, call in by_row.items() if call.is_approved}:
                await self.deps.store.start(approved)
            for row, call in by_row.items():
                if call.is_asked_again:
                    await self.deps.store.wait(row, call)
        else:
            number, before, sent_back = self._start
            new = NewRound(number, calls, before, self.brief.inside, sent_back)
            self.rows = await self.deps.store.begin(new)
        self.emitter.calls_are_stored()
        self.emitter.open_round()
        self.emitter.show(self.emitter.blocks.round(len(calls)))
        for tab, call in enumerate(calls):
            self.emitter.show(show_call(self.emitter.blocks, tab, self._shown(tab, call)))
            if call.needs_approval:
                shown = self._shown(tab, call)
                asked = self.emitter.blocks.approval_required(tab, shown, call.present_asked())
                self.emitter.show(asked)

    @contextmanager
    def context(self, tab: int) -> Iterator[ToolContext]:
        def show(progress: Progress) -> None:
            packet = ToolProgress(self.calls[tab].id, *progress)
            self.emitter.show(self.emitter.blocks.passing(tab, packet))

        reports = ProgressReports(show)
        try:
            yield _CallContext(self, tab, reports)
        finally:
            reports.close()

    def number(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        return self.deps.numbering.number(documents)

    async def keep_images(self, tab: int, contents: Sequence[bytes]) -> KeptImages:
        kept = await self.deps.store.keep_images(self.rows[tab], self.calls[tab].name, contents)
        sees_images = self.brief.prompt_parts.sees_images
        return KeptImages(kept, describe_images(len(contents), len(kept), sees_images=sees_images))

    async def finished(self, tab: int, result: CallResult) -> None:
        self.emitter.has_found |= bool(result.documents)
        resumed = self.resumed.calls[tab] if self.resumed else None
        if resumed and resumed.response:
            shown = resumed
        else:
            await self._store_result(self.rows[tab], result)
            call = self.calls[tab]
            # Calls under a name that a model has made up are not counted.
            if call.tool and result.duration_ms is not None:
                self.deps.on_tool_call(call.tool.name, result.status, result.duration_ms / 1000)
            ran = self._shown(tab, _as_it_ran(call, result))
            if result.arguments is not None:
                self.emitter.show(self.emitter.blocks.tool_arguments(tab, ran.arguments, ran.id))
            shown = replace(
                ran,
                response=result.response,
                documents=result.documents,
                images=result.images,
                status=result.status,
                facts=result.facts,
            )
        self.emitter.show(show_outcome(self.emitter.blocks, tab, shown))

    async def asked(self, tab: int, question: AnyQuestion) -> None:
        call = replace(self.calls[tab], question=question)
        await self.deps.store.wait(self.rows[tab], call)
        self.emitter.show(
            self.emitter.blocks.approval_required(tab, self._shown(tab, call), call.present_asked())
        )

    async def _store_result(self, row: str, result: CallResult) -> None:
        """Store the result of a call, with the report of an agent tool as far as it was written."""
        reports = self.emitter.state.outermost.reports
        report = reports[row].latest if row in reports else Utterance()
        await self.deps.store.finish(row, result, AgentReport(report.text, report.reasoning))
        reports.pop(row, None)

    def _shown(self, tab: int, call: PlannedCall) -> ShownCall:
        return ShownCall(self.rows[tab], call.id, call.name, call.arguments, response="")


class _CallContext:
    """The ToolContext of one call."""

    def __init__(self, runner: RoundRunner, tab: int, progress: ProgressReports) -> None:
        self._runner = runner
        self._tab = tab
        self._progress = progress
        self.key = runner.rows[tab]  # stored before the call runs; the next attempt has the same
        self.answers = None if runner.brief.inside else runner.calls[tab].answers
        self.now = runner.deps.now
        self.sources = runner.deps.sources
        self.knowledge = runner.deps.knowledge
        self.pages = runner.deps.pages
        self.servers = runner.deps.servers

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        self._progress.report(done, total, message)

    async def rewrite_queries(self, queries: Sequence[str]) -> Sequence[str]:
        return await self._runner.deps.rewrite_queries(queries)

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        runner, tab = self._runner, self._tab
        outer = runner.emitter
        state = RunState(outer=outer.state.outermost)
        inner = outer.within(tab, state)
        outer.state.outermost.reports[runner.rows[tab]] = state
        brief = replace(
            runner.brief,
            entries=[Entry("", "user", question, self.now)],
            prompt_parts=PromptParts(
                system=instructions,
                source=runner.brief.model.source,
                sees_images=runner.brief.prompt_parts.sees_images,
            ),
            max_cycles=cycles,
            tools=without_tools(tools, runner.brief.tools_needing_approval),
            forced_tool="",
            reminder="",
            options=inner_options(runner.brief.options),
            documents=(),
            earlier=EarlierProgress(rounds=runner.resumed.calls[tab].rounds if runner.resumed else ()),
            inside=runner.rows[tab],
        )
        try:
            answer = await runner.loop(brief, runner.deps, inner)
        except UsedUp as used_up:
            raise ToolFailed(f"{used_up} Answer with what you have.") from used_up
        finally:
            inner.end()
            outer.has_found |= inner.has_found
        # Otherwise the model that reads the report would take it for complete.
        cut = f"\n\n(The report is incomplete. {answer.finish.sentence})" if answer.finish.is_cut else ""
        return answer.text + cut
