"""A reader who joins at any moment, from the log or the database, sees the same calls as all other readers."""

import asyncio
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.log.producer import PacketProducer
from chat.log.progress import drop_unknown_steps, fold
from chat.log.stream import Appended
from chat.models import Run
from chat.protocol import wire as p
from chat.transcript.packets import Blocks
from llm_worker.attempt.attempt_phases import end_interrupted_call
from llm_worker.attempt.checkpointer import CheckpointTracker
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.round_runner import RoundRunner
from llm_worker.loop.state import RunState
from llm_worker.stream.call_assembler import CallFragment, parse_partial_arguments
from tests.machine.world import LINES, NoScheduler


@dataclass
class Call:
    name: str
    writing: str = ""
    given: dict[str, Any] | None = None
    status: str = "running"


@dataclass
class Reader:
    """The screen of one reader. calls: by id, in order."""

    text: str = ""
    calls: dict[str, Call] = field(default_factory=dict)

    def packet(self, entry: p.Packet) -> None:
        match entry.obj:
            case p.MessageDelta(text):
                self.text += text
            case p.ToolStart(call_id, name):
                self.calls[call_id] = Call(name)
            case p.ToolArgumentsDelta(call_id, text):
                self.calls[call_id].writing += text
            case p.ToolArguments(call_id, given):
                self.calls[call_id] = replace(self.calls[call_id], given=given, writing="")
            case p.SectionEnd(str() as call_id, status):
                self.calls[call_id].status = status or "completed"


@dataclass
class Moment:
    """logged: how many packets the log holds.  saved: the latest checkpoint's seq and text.  rows: known calls."""

    logged: int
    saved: tuple[int, str]
    rows: dict[str, Call]


class Stage:
    """One run, produced step by step, with a Moment after each step."""

    def __init__(self) -> None:
        self.log: list[p.LogEntry] = []
        self.rows: dict[str, Call] = {}
        self.saved = (0, "")
        self.moments: list[Moment] = []
        self.producer = PacketProducer(p.RunAddress("session", "run", 1), NoScheduler(), lambda: None)
        self.state = RunState()
        self.emitter = Emitter(self.producer, self.state, Blocks(), clock=lambda: 7.0)
        self.run = Run(message_id=uuid4())
        self.checkpoint = CheckpointTracker(self.run, self.emitter, self.producer, 0.0)
        self.sink: Any = self.emitter
        self.calls = 0
        self.emitter.show(Blocks.run_start, "model")
        self.emitter.begin_step()

    def do(self, action: str, text: str) -> None:
        getattr(self, action)(text)
        self.moments.append(
            Moment(len(self.log), self.saved, {name: replace(row) for name, row in self.rows.items()})
        )

    def say(self, text: str) -> None:
        self.sink.text(text)

    def think(self, text: str) -> None:
        self.sink.reasoning(text)

    def write(self, text: str) -> None:
        begins = self.emitter.preview is None
        self.calls += begins
        piece = f'{{"what": "{text}' if begins else text
        self.sink = self.emitter.call(CallFragment(0, f"call_{self.calls}", "act", piece, begins))

    def save(self, _: str = "") -> None:
        checkpoint = self.checkpoint.build()
        self.saved = (checkpoint.seq, checkpoint.text)

    def append(self, _: str = "") -> None:
        if arguments := self.producer.next_append():
            self.log += [p.decode_log_entry(line) for line in arguments[LINES:]]
            self.producer.confirm(Appended("ok", len(self.log)))

    def carry_out(self, text: str) -> None:
        """End the step with the call that was shown, if any, and one more call per character of `text`."""
        self.emitter.end_step()
        written = self.emitter.preview
        calls = (
            [PlannedCall(written.id, "act", parse_partial_arguments("".join(written.pieces)), None)]
            if written
            else []
        )
        for _ in text:
            self.calls += 1
            calls.append(PlannedCall(f"call_{self.calls}", "act", {"n": self.calls}, None))
        if calls:
            asyncio.run(self._carry_out(calls))
        self.sink = self.emitter
        self.emitter.begin_step()

    def interrupt(self, _: str = "") -> None:
        never_ran = end_interrupted_call(self.run, self.emitter)
        self.emitter.end()
        self.do("append", "")
        self.rows |= {
            row.tool_call_id: Call(row.name, given=row.arguments, status=row.status) for row in never_ran
        }
        self.saved = (self.producer.settle(), self.state.text)
        self.do("append", "")
        self.emitter.stop("user_cancelled")
        self.do("append", "")

    async def _carry_out(self, calls: list[PlannedCall]) -> None:
        runner: Any = RoundRunner(
            SimpleNamespace(inside=""), SimpleNamespace(store=self, tool_limit_s=1.0), self.emitter, None
        )  # type: ignore[arg-type]
        await runner.begin(calls)
        self.do("append", "")
        result = CallResult("completed", "Done.")
        for tab in range(len(calls)):
            await runner.finished(tab, result)
        self.emitter.show(Blocks.close)

    # deps.RoundStore

    async def begin(self, new_round: Any) -> list[str]:
        self.do("append", "")
        self.save()
        self.rows |= {call.id: Call(call.name, given=dict(call.arguments)) for call in new_round.calls}
        self.do("append", "")
        return [str(uuid4()) for _ in new_round.calls]

    async def finish(self, row: str, result: CallResult, _reported: Any) -> None:
        running = next(row for row in self.rows.values() if row.status == "running")
        running.status = result.status
        self.do("append", "")

    # Readers

    def from_the_start(self) -> Reader:
        return self._joined(Reader(), 0)

    def from_the_log(self, moment: Moment, logged: int) -> Reader:
        """Join with the rows of a moment and the log of the same moment, or of a later one."""
        calls = [
            {"tool_call_id": name, "status": row.status, "children": []} for name, row in moment.rows.items()
        ]
        visible = drop_unknown_steps(self.log[:logged], calls)
        return self._joined(
            Reader(fold(visible).text, self._known(moment)), visible[-1].seq if visible else 0
        )

    def from_the_database(self, moment: Moment) -> Reader:
        seq, text = moment.saved
        return self._joined(Reader(text, self._known(moment)), seq)

    def _known(self, moment: Moment) -> dict[str, Call]:
        return {name: replace(row) for name, row in moment.rows.items()}

    def _joined(self, reader: Reader, seq: int) -> Reader:
        for entry in self.log[seq:]:
            assert isinstance(entry, p.Packet)
            reader.packet(entry)
        return reader


TEXTS = st.text("ab ", min_size=1, max_size=3)
ACTIONS = st.tuples(
    st.sampled_from(["say", "think", "write", "write", "save", "append", "append", "carry_out"]), TEXTS
)


@settings(deadline=None)  # the first example loads the tokenizer
@given(st.lists(ACTIONS, max_size=25))
def test_readers_who_join_at_any_moment_end_with_the_same_screen(actions):
    stage = Stage()
    for action, text in actions:
        stage.do(action, text)
    stage.do("interrupt", "")
    shown = stage.from_the_start()
    assert shown.text == stage.state.text == stage.saved[1]
    assert shown.calls == stage.rows
    assert fold(stage.log).text == shown.text
    for index, moment in enumerate(stage.moments):
        for later in (*stage.moments[index : index + 4], stage.moments[-1]):
            assert stage.from_the_log(moment, later.logged) == shown
        assert stage.from_the_database(moment) == shown


@settings(deadline=None)  # the first example loads the tokenizer
@given(st.lists(ACTIONS, max_size=25))
def test_readers_who_join_see_the_same_unfinished_call_as_others(actions):
    """Not only at the end: an unfinished call has the same text on every screen at any moment."""
    stage = Stage()
    for action, text in actions:
        stage.do(action, text)
    stage.do("append", "")
    shown = stage.from_the_start()
    open_now = {name: call for name, call in shown.calls.items() if call.given is None}
    assert len(open_now) <= 1
    for moment in stage.moments:
        for joined in (stage.from_the_log(moment, moment.logged), stage.from_the_database(moment)):
            assert {name: call for name, call in joined.calls.items() if call.given is None} == open_now
            assert joined.text == shown.text


@pytest.mark.pure
def test_a_checkpoint_past_an_unstored_call_is_detected():
    stage = Stage()
    stage.say("A")
    stage.write("b")
    stage.producer.release()
    stage.do("save", "")
    stage.do("interrupt", "")
    with pytest.raises(KeyError):
        stage.from_the_database(stage.moments[0])
