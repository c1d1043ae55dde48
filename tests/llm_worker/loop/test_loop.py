"""The loop decides by the results of steps and rounds, never by the saved state."""

import ast
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chat.transcript.entries import Entry
from chat.transcript.packets import Blocks
from chat.transcript.rebuild import ShownCall, ShownRound
from llm_worker import loop
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.calls import CallResult
from llm_worker.loop.deps import AgentReport, LoopDeps, NewRound
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.loop import run_llm_loop
from llm_worker.loop.state import RunState, Utterance
from llm_worker.request.numbered_documents import Numbering
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.side_requests.withheld import LoopTexts
from llm_worker.tools.current_time.tool import CurrentTime
from llm_worker.tools.research_agent.tool import ResearchAgent
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta, ToolCallDelta
from llm_worker.upstream.model_request import Model, Request

pytestmark = pytest.mark.pure

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
TIME = ToolCallDelta(0, "call_1", "current_time", "{}")
RESEARCH = ToolCallDelta(0, "call_2", "research_agent", '{"question": "Who?"}')
TOOLS: list[Tool] = [CurrentTime(), ResearchAgent([CurrentTime()])]


class WriteOnlyState(RunState):
    """Whatever reads what was accumulated fails, until the loop is over."""

    is_readable = False

    def __getattribute__(self, name: str) -> Any:
        read = {"latest", "pieces", "reasoning", "text", "first_token_at", "has_called"}
        if name in read and not self.is_readable:
            raise AssertionError(f"the loop reads RunState.{name}")
        return super().__getattribute__(name)

    def stamp_first_token(self, at: float) -> None:
        """Without reading what is there."""


class Script:
    """StreamingModels, RoundStore, PacketSink and Knowledge: answers as scripted, and remembers what it was given."""

    def __init__(self, *answers: list[Delta]) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.rounds: list[NewRound] = []
        self.results: list[tuple[CallResult, AgentReport]] = []

    async def stream(self, request: Request) -> AsyncGenerator[list[Delta]]:
        self.requests.append(request)
        yield [*self.answers.pop(0), Finished("stop")]

    async def begin(self, new_round: NewRound) -> list[str]:
        self.rounds.append(new_round)
        return [f"row_{len(self.rounds)}_{tab}" for tab in range(len(new_round.calls))]

    async def finish(self, row: str, result: CallResult, report: AgentReport) -> None:
        self.results.append((result, report))

    async def withhold(self, material: LoopTexts) -> LoopTexts:
        return material

    def emit(self, placement: object, obj: object) -> None: ...

    def hold(self) -> None: ...

    def release(self) -> None: ...

    async def answer(self, state: RunState, **given: Any) -> str:
        brief = Brief(
            Model("scripted", "http://127.0.0.1:9"),
            [Entry("1", "user", "Why?", NOW)],
            PromptParts(),
            100_000,
            max_cycles=6,
            tools=TOOLS,
            **given,
        )
        deps = LoopDeps(
            models=self,
            store=self,
            numbering=Numbering(),
            allowance=Allowance(),
            now=NOW,
            tool_limit_s=60.0,
            sources=None,
            knowledge=self,
            on_request=lambda *_: None,
            on_usage=lambda *_: None,
        )
        return (await run_llm_loop(brief, deps, Emitter(self, state, Blocks(), lambda: 7.0))).text


async def test_an_answer_after_a_round_of_tools_does_not_read_the_saved_state():
    script, state = (
        Script([ReasoningDelta("Hm."), TextDelta("A."), TIME], [TextDelta("B.")]),
        WriteOnlyState(),
    )
    assert await script.answer(state) == "B."
    [stored] = script.rounds
    assert (stored.number, stored.before[:2]) == (0, ("A.", "Hm."))
    assert script.requests[1].messages[-2].text == "A."
    state.is_readable = True
    assert (state.text, state.latest, state.cycles) == ("A.\n\nB.", Utterance("\n\nB."), 2)


async def test_a_resumed_round_does_not_read_the_saved_state():
    done = ShownRound((ShownCall("row", "call_0", "current_time", {}, "Noon."),), text_before="A.")
    half = ShownRound(
        (ShownCall("row_2", "call_1", "current_time", {}, "", status="running"),), text_before="B."
    )
    script, state = Script([TextDelta("C.")]), WriteOnlyState()
    assert await script.answer(state, earlier=EarlierProgress((done, half))) == "C."
    assert script.rounds == []
    assert [message.text for message in script.requests[0].messages if message.letter == "TC"] == ["A.", "B."]
    assert [result.status for result, _ in script.results] == ["completed"]


async def test_the_partial_answer_of_an_earlier_attempt_is_part_of_the_answer():
    script, state = Script([TextDelta("and B.")]), WriteOnlyState()
    assert await script.answer(state, earlier=EarlierProgress(text="A ", is_shown=True)) == "A and B."
    assert script.requests[0].messages[-1].text == "A "


async def test_an_empty_answer_is_rejected_without_reading_the_saved_state():
    script = Script([TextDelta("A."), TIME], [TextDelta(" ")])
    with pytest.raises(ModelFailed, match="empty_response"):
        await script.answer(WriteOnlyState())


async def test_an_agent_tool_reports_what_its_loop_returns():
    script, state = Script([RESEARCH], [TextDelta("Inside.")], [TextDelta("B.")]), RunState()
    assert await script.answer(state) == "B."
    [(result, report)] = script.results
    assert (result.response, report) == ("Inside.", AgentReport("Inside."))
    assert (state.cycles, state.reports) == (3, {})


# What the modules of the loop may do with a RunState: leave something there, or find the one that counts.
WRITES = {
    "begin_calls",
    "close_report",
    "count_step",
    "end_without_tokens",
    "note_marked_reasoning",
    "note_untagged_thinking",
    "open_passage",
    "open_report",
    "stamp_first_token",
}
MODULES = [
    "allowance.py",
    "cycle.py",
    "emitter.py",
    "loop.py",
    "step.py",
    "round_runner.py",
    "tool_round.py",
]


# Results come back from the methods; the packets are built by those of `Blocks`.
WRITES_TO_EMITTER = {
    "begin_step",
    "break_off_step",
    "call",
    "calls_are_stored",
    "cite_from",
    "continue_text",
    "end",
    "end_step",
    "open_round",
    "replay",
    "show",
    "state",
    "withhold_documents",
    "within",
}


def attributes_of(name: str, module: str) -> set[str]:
    """Return the attributes that a module of the loop uses of what it calls by this name."""
    tree = ast.parse((Path(loop.__file__).parent / module).read_text(encoding="utf-8"))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (
            (isinstance(node.value, ast.Attribute) and node.value.attr == name)
            or (isinstance(node.value, ast.Name) and node.value.id == name)
        )
    }


@pytest.mark.parametrize("module", MODULES)
def test_modules_of_the_loop_only_write_to_the_state(module):
    assert attributes_of("state", module) <= WRITES


@pytest.mark.parametrize("module", MODULES)
def test_modules_of_the_loop_only_write_to_the_emitter(module):
    assert attributes_of("emitter", module) <= WRITES_TO_EMITTER
