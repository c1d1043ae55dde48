"""Growing conversations, with the real requests and the real plan of compression: nothing is lost between the two."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.transcript.entries import Call, Entry, Round
from compression.plan import get_compression_params, get_messages_to_summarize, measure_rows
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import build_cycle
from llm_worker.records.context_usage import WindowUsage
from llm_worker.request.context import Budget
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.tools.tool import Tool
from llm_worker.upstream.model_request import Model
from tests.examples import examples
from tests.llm_worker.scripted_tool import ScriptedTool

pytestmark = pytest.mark.pure

THEN = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
TRIGGER, KEPT = 0.75, 0.2
SYSTEM_TOKENS, SUMMARY_TOKENS = 400, 60
WINDOWS = (4_096, 8_000, 16_000, 24_000, 32_000, 48_000, 64_000)
THREE_TOOLS: tuple[Tool, ...] = tuple(ScriptedTool(name) for name in ("look_up", "open_page", "remember"))


@dataclass
class Conversation:
    """A branch that one model answers, and its summary.  missing: ids of messages that the latest request omitted."""

    window: int
    tools: tuple[Tool, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    summarised: int = 0
    compressions: int = 0
    missing: frozenset[str] = frozenset()
    is_due: bool = False

    def turn(self, question: int, answer: int, calls: int = 0) -> None:
        """One turn, the lengths in tokens; with a compression if it is requested and due, as after a real run."""
        self._append("user", question)
        brief = self._brief()
        context = build_cycle(brief, [], Allowance().open_loop(is_outermost=True)).report.context
        self.missing = frozenset(entry.id for entry in context.omitted_entries)
        usage = WindowUsage(TRIGGER, brief)
        usage.record(context)
        rounds = tuple(
            Round((Call(f"{len(self.entries)}-{n}", "look_up", {"what": "x"}, "found"),))
            for n in range(calls)
        )
        if rounds:
            usage.record(build_cycle(brief, rounds, Allowance().open_loop(is_outermost=True)).report.context)
        self._append("assistant", answer, rounds)
        wanted = usage.wanted_compression("word " * answer)
        self.is_due = False
        if wanted is not None and wanted.reserved_tokens is not None:
            self._compress(self.window - wanted.reserved_tokens, is_cut=wanted.is_history_cut)

    def _compress(self, history_window: int, *, is_cut: bool) -> None:
        rows = measure_rows(self.entries[self.summarised :], MessageRenderer(estimate_tokens))
        params = get_compression_params(
            rows,
            SUMMARY_TOKENS if self.summarised else 0,
            history_window=history_window,
            trigger_ratio=TRIGGER,
        )
        self.is_due = params.is_due or is_cut
        split = get_messages_to_summarize(rows, min(params.history_tokens, history_window), KEPT)
        if self.is_due and split:
            self.summarised += len(split.older)
            self.compressions += 1

    def _brief(self) -> Brief:
        has_summary = self.summarised > 0
        prompt_parts = PromptParts(
            system="s " * SYSTEM_TOKENS,
            summary="In short." if has_summary else "",
            summary_tokens=SUMMARY_TOKENS if has_summary else 0,
        )
        entries = self.entries[self.summarised :]
        model = Model("m", "http://localhost")
        return Brief(model, entries, prompt_parts, context_window=self.window, max_cycles=6, tools=self.tools)

    def _append(self, role: str, tokens: int, rounds: tuple[Round, ...] = ()) -> None:
        name = f"{role[0]}{len(self.entries)}"
        entry = Entry(name, "user", "word " * tokens, THEN, token_count=tokens)
        self.entries.append(replace(entry, role=role, rounds=rounds))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("tools", [(), THREE_TOOLS], ids=["no tools", "three tools"])
@pytest.mark.parametrize("window", WINDOWS)
def test_no_message_is_omitted_before_a_summary_stands_for_it(window: int, tools: tuple[Tool, ...]) -> None:
    talk = Conversation(window, tools)
    for number in count():
        # At least 300 tokens; longer in large windows, so that those need no hundreds of turns.
        talk.turn(question=60, answer=max(300, window // 50), calls=bool(tools))
        assert not talk.missing, f"turn {number + 1} of {window}"
        if talk.compressions == 3:
            break
    assert number < window // 200, "the window is used before it is compressed"


@pytest.mark.slow
@given(
    st.sampled_from(WINDOWS),
    st.booleans(),
    st.lists(
        st.tuples(st.integers(5, 600), st.integers(0, 1000), st.integers(0, 2)), min_size=5, max_size=40
    ),
)
@settings(max_examples=examples(60))
def test_being_cut_makes_a_compression_due_after_which_nothing_is_unseen(window, has_tools, turns):
    talk = Conversation(window, THREE_TOOLS if has_tools else ())
    for question, answer, calls in turns:
        before = talk.compressions
        talk.turn(question, answer, calls if has_tools else 0)
        if talk.missing:
            assert talk.is_due, "a cut request leads to a compression that is due"
            assert talk.compressions > before or len(talk.entries) - talk.summarised <= 4
        if talk.compressions > before:
            after = replace(talk, entries=list(talk.entries))
            after.turn(question=20, answer=0)
            assert not after.missing, "what the summary does not cover is shown"


@pytest.mark.parametrize("for_rounds", [0, 8_192])
def test_the_history_window_grows_with_what_is_free(for_rounds: int) -> None:
    """So that charging the question as history or as a fixed message never leaves less than the window."""
    budget = Budget(30_000, for_rounds)
    windows = [budget.history_window(fixed) for fixed in range(0, 31_000, 10)]
    assert windows == sorted(windows, reverse=True)
    assert all(before - after <= 10 for before, after in pairwise(windows))
    assert windows[0] == 30_000 - for_rounds
    assert windows[-1] == 0
