"""RoundRunner: runs one round of tool calls with everything around them: rows, packets, document numbers, agent tools.

tool_round.py runs the calls themselves and knows nothing of these.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from chat.protocol.wire import ToolProgress
from chat.transcript.answer_settings import inner_options
from chat.transcript.entries import Call, Document, Entry, Round, SentBack
from chat.transcript.finish import Finish
from chat.transcript.packets import HANDED_OVER, Blocks
from chat.transcript.questions import AnyQuestion
from chat.transcript.rebuild import ShownCall, ShownRound, show_call, show_outcome
from llm_worker.loop.allowance import UsedUp
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.calls import ApprovalNeeded, CallResult, PlannedCall, without_tools
from llm_worker.loop.deps import AgentReport, LoopDeps, NewRound
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.state import NOTHING_WRITTEN, RunState, Utterance
from llm_worker.loop.tool_round import KeptImages, execute
from llm_worker.request.message_renderer import describe_images
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.stream.sanitiser import clean
from llm_worker.tools.tool import Part, Tool, ToolContext, ToolFailed
from llm_worker.worker_part import part_of

INTERVAL_S: Final = 1.0
MAX_TEXT_CHARACTERS: Final = 200


class Progress(NamedTuple):
    """The progress of a call. total: in the unit of `done`; None if unknown.  text: the current step; may be empty."""

    done: float
    total: float | None
    text: str


class ProgressReports:
    """The reports of one call. The latest report is shown after the interval at the latest, unless the call ends."""

    def __init__(self, show: Callable[[Progress], None], interval_s: float = INTERVAL_S) -> None:
        self._show = show
        self._interval_s = interval_s
        self._latest: Progress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def report(self, done: float, total: float | None, text: str) -> None:
        """Show the progress, now or later. Ignores numbers that JSON cannot represent; without `done`, the report."""
        if self._is_closed or not math.isfinite(done):
            return
        known_total = total if total is not None and math.isfinite(total) and total > 0 else None
        self._latest = Progress(done, known_total, clean(" ".join(text.split()))[:MAX_TEXT_CHARACTERS])
        if self._timer is None:
            self._pass_on()

    def close(self) -> None:
        self._is_closed = True
        if self._timer:
            self._timer.cancel()

    def _pass_on(self) -> None:
        self._timer = None
        if self._latest is None:
            return
        self._show(self._latest)
        self._latest = None
        self._timer = asyncio.get_running_loop().call_later(self._interval_s, self._pass_on)


def _as_it_ran(call: PlannedCall, result: CallResult) -> PlannedCall:
    return call if result.arguments is None else replace(call, arguments=result.arguments)


class RoundStart(NamedTuple):
    """The start of a round. number: its index in the loop, from 0.  before: text shown since the previous round.

    after_calls: what the model wrote after its calls, and readers see already.
    """

    number: int
    before: Utterance
    sent_back: SentBack | None = None
    after_calls: Utterance = NOTHING_WRITTEN


class EndedRound(NamedTuple):
    """A round as the model sees it. has_found: its tools have found documents, inside agent tools too.

    is_handed_over: the caller carries some of its calls out, which the round lacks.
    """

    round: Round
    has_found: bool
    is_handed_over: bool = False


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
        self._has_found = False
        # The loops of agent tools, by tab.
        self._inner: dict[int, RunState] = {}

    async def run(self, calls: Sequence[PlannedCall], start: RoundStart) -> EndedRound:
        """Run the calls that have no result yet and return the round as the model sees it. Raises ApprovalNeeded."""
        self._start = start
        outcomes = await execute(calls, self, self.deps.tool_limit_s)
        open_calls = {tab: call for tab, call in enumerate(calls) if outcomes[tab] is None}
        if not all(call.is_handed_over for call in open_calls.values()):
            raise ApprovalNeeded
        for tab in open_calls:
            self.emitter.show(Blocks.tool_end, tab, HANDED_OVER)
        self.emitter.show(Blocks.close)
        done = (
            Call(
                call.id, call.name, _as_it_ran(call, result).arguments, result.response, images=result.images
            )
            for call, result in zip(calls, outcomes, strict=True)
            if result
        )
        ended = Round(tuple(done), start.before.text, start.before.reasoning, start.sent_back)
        return EndedRound(ended, self._has_found, is_handed_over=bool(open_calls))

    # RoundHost, for tool_round.execute

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        self.calls = calls
        self.emitter.state.begin_calls()
        if self.resumed:
            self.rows = [call.id for call in self.resumed.calls]
            by_row = dict(zip(self.rows, calls, strict=True))
            if approved := {row: call for row, call in by_row.items() if call.is_approved}:
                await self.deps.store.start(approved)
            for row, call in by_row.items():
                if call.is_asked_again:
                    await self.deps.store.wait(row, call)
        else:
            start = self._start
            new = NewRound(start.number, calls, start.before, self.brief.inside, start.sent_back)
            self.rows = await self.deps.store.begin(new)
        self.emitter.calls_are_stored()
        self.emitter.open_round(self._start.after_calls)
        self._show_round()

    def _show_round(self) -> None:
        """Show the calls, and at once what those that have ended returned: a stop may come before anything else runs."""
        self.emitter.show(Blocks.round, len(self.calls))
        for tab, call in enumerate(self.calls):
            stored = self._shown(tab, call)
            self.emitter.show(show_call, tab, stored)
            if call.needs_approval:
                self.emitter.show(Blocks.approval_required, tab, stored, call.present_asked())
        for tab, ended in enumerate(self.resumed.calls if self.resumed else ()):
            if ended.response:
                self.emitter.show(show_outcome, tab, ended)

    @contextmanager
    def context(self, tab: int) -> Iterator[ToolContext]:
        def show(progress: Progress) -> None:
            self.emitter.show(Blocks.passing, tab, ToolProgress(self.calls[tab].id, *progress))

        reports = ProgressReports(show)
        try:
            yield _CallContext(self, tab, reports)
        finally:
            reports.close()

    def number(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        return self.deps.numbering.number(documents)

    async def keep_images(self, tab: int, contents: Sequence[bytes]) -> KeptImages:
        images = await self.deps.store.store_images(self.rows[tab], self.calls[tab].name, contents)
        sees_images = self.brief.prompt_parts.sees_images
        return KeptImages(images, describe_images(len(contents), len(images), sees_images=sees_images))

    async def finished(self, tab: int, result: CallResult) -> None:
        if result.documents:
            self.note_found()
        if self.resumed and self.resumed.calls[tab].response:
            return  # shown with the round
        row, call = self.rows[tab], self.calls[tab]
        # The report of an agent tool is stored as far as it was written.
        report = self._inner[tab].latest if tab in self._inner else Utterance()
        await self.deps.store.finish(row, result, AgentReport(report.text, report.reasoning))
        self.emitter.state.close_report(row)
        # Neither calls under a name that a model has made up nor answers of users are counted.
        if call.tool and not call.result and result.facts.duration_ms is not None:
            self.deps.on_tool_call(call.tool.name, result.status, result.facts.duration_ms / 1000)
        ran = self._shown(tab, _as_it_ran(call, result))
        if result.arguments is not None:
            self.emitter.show(Blocks.tool_arguments, tab, ran.arguments, ran.id)
        outcome = replace(
            ran,
            response=result.response,
            documents=result.documents,
            images=result.images,
            status=result.status,
            facts=result.facts,
        )
        self.emitter.show(show_outcome, tab, outcome)

    async def asked(self, tab: int, question: AnyQuestion) -> None:
        call = replace(self.calls[tab], question=question)
        await self.deps.store.wait(self.rows[tab], call)
        self.emitter.show(Blocks.approval_required, tab, self._shown(tab, call), call.present_asked())

    def note_found(self) -> None:
        self._has_found = True
        self.deps.on_found()

    def open_loop(self, tab: int) -> Emitter:
        """Open the loop of the agent tool of this tab, and return its emitter."""
        self._inner[tab] = state = self.emitter.state.open_report(self.rows[tab])
        return self.emitter.within(tab, state)

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

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        self._progress.report(done, total, message)

    def part(self, kind: type[Part]) -> Part:
        return part_of(self._runner.deps.parts, kind)

    async def rewrite_queries(self, queries: Sequence[str]) -> Sequence[str]:
        return await self._runner.deps.rewrite_queries(queries)

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        runner, tab = self._runner, self._tab
        inner = runner.open_loop(tab)
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
            must_call=False,
            given_rounds=0,
            reminder="",
            options=inner_options(runner.brief.options),
            documents=(),
            earlier=EarlierProgress(rounds=runner.resumed.calls[tab].rounds if runner.resumed else ()),
            inside=runner.rows[tab],
        )
        try:
            answer = await runner.loop(brief, replace(runner.deps, on_found=runner.note_found), inner)
        except UsedUp as used_up:
            raise ToolFailed(f"{used_up} Answer with what you have.") from used_up
        finally:
            inner.end()
        # Otherwise the model that reads the report would take it for complete.
        cut = f"\n\n(The report is incomplete. {answer.finish.sentence})" if answer.finish.is_cut else ""
        return answer.text + cut
