"""What a run reports of its context window: its parts, what is left, and what would be summarised next."""

from dataclasses import replace
from fractions import Fraction

import pytest

from chat.protocol.states import Status
from chat.transcript.entries import Call, Entry
from chat.transcript.rebuild import ShownRound
from compression.plan import get_messages_to_summarize, measure_rows
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import build_cycle
from llm_worker.records.context_usage import PARTS, ContextUsage, WindowUsage
from llm_worker.request import token_counters as counted
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import total_tokens
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.tools.registry import select_tools
from tests.llm_worker.outcomes import ended
from tests.llm_worker.records.test_window_usage import brief


def recorded(given: Brief, *rounds: ShownRound) -> WindowUsage:
    usage = WindowUsage(0.75, given)
    usage.record(build_cycle(given, rounds, Allowance().open_loop(is_outermost=True)).report.context)
    return usage


def measured(given: Brief, *rounds: ShownRound, answer: int = 100) -> dict:
    report = ContextUsage(recorded(given, *rounds), 0.75, 0.2).as_json(answer)
    assert report is not None
    return report


@pytest.mark.slow
@pytest.mark.pure
def test_the_parts_are_the_tokens_of_the_request_and_with_the_rest_fill_the_window() -> None:
    given = replace(brief(1000, 1000, 50), tools=select_tools(["current_time"]))
    report, messages = measured(given), recorded(given).messages
    assert sum(report[part] for part in PARTS) == total_tokens(messages)
    assert report["tools"] > 0
    assert 100 <= report["system"] <= 110
    assert 450 <= report["files"] <= 470  # the project and the dynamic context
    assert report["summary"] == 0
    assert report["history"] >= 2000
    assert 50 <= report["question"] <= 100
    free = given.budget.tokens - total_tokens(messages)
    filled = sum(report[part] for part in (*PARTS, "tools", "reserved"))
    assert report["window"] - filled == free


@pytest.mark.pure
def test_an_attempt_without_a_request_reports_nothing() -> None:
    assert ContextUsage(WindowUsage(0.75), 0.75, 0.2).as_json(0) is None
    assert ContextUsage(WindowUsage(0.75, brief(10)), 0.75, 0.2).as_json(0) is None


@pytest.mark.pure
def test_a_server_that_counts_more_tokens_fills_its_window_sooner() -> None:
    report, doubled = (measured(replace(brief(400, 400, 50), token_factor=factor)) for factor in (1.0, 2.0))
    assert doubled["history"] == 2 * report["history"]
    assert doubled["window"] == report["window"]
    assert abs(doubled["reserved"] - report["reserved"]) <= 1


@pytest.mark.pure
def test_responses_of_tools_count_for_this_question_but_not_for_the_history_that_follows() -> None:
    call = Call("c1", "current_time", {}, response="word " * 1000, token_count=4)
    round_ = ShownRound(calls=(call,))
    plain, long = measured(brief(100)), measured(brief(100), round_)
    assert long["question"] > plain["question"] + 1000
    assert long["compression"]["history"] < plain["compression"]["history"] + 100


@pytest.mark.pure
def test_what_would_stay_verbatim_is_what_compression_would_keep() -> None:
    """The answer is a message of the branch by then."""
    renderer = MessageRenderer(estimate_tokens)
    for lengths in (
        (10,),
        (10, 10, 10),
        (900, 900, 900),
        (2000, 50, 100, 50, 100),
        (50, 2000, 2000, 2000, 10),
    ):
        for answer in (5, 300, 3000):
            given = brief(*lengths)
            report = measured(given, answer=answer)["compression"]
            last = Entry(
                "answer", "assistant", "word " * answer, given.entries[-1].sent_at, token_count=answer
            )
            rows = measure_rows([*given.entries, last], renderer)
            window = recorded(given).history_window(given)
            assert report["history"] == sum(row.tokens for row in rows)
            assert report["limit"] == int(Fraction("0.75") * window)
            split = get_messages_to_summarize(rows, min(report["history"], window), 0.2)
            assert report["keeps_from"] == (split.recent[0].entry.id if split else None)


@pytest.mark.pure
def test_measuring_tokenises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given = replace(brief(1000, 1000, 50), tools=select_tools(["current_time"]))
    usage = recorded(given)

    def refuse(text: str, encoding: str) -> int:
        raise AssertionError(f"counted again: {text[:20]}")

    monkeypatch.setattr(counted, "count_tokens", refuse)
    assert ContextUsage(usage, 0.75, 0.2).as_json(100)


def test_an_ended_run_stores_it_and_a_failed_one_too(small, deliver, ask, upstream) -> None:
    upstream.reply({"text": "Yes."}, times=1)
    [run] = ask("Hello?", "small")
    assert run.context_usage is None
    deliver(run).result()
    run.refresh_from_db()
    assert run.context_usage["window"] == 3000
    assert run.context_usage["reserved"] == 3000 - int(0.95 * 3000) + 500
    assert run.context_usage["question"] > 0
    upstream.reply({"text": "Half"}, {"eof": "close"}, times=1)
    run.turn.session.refresh_from_db()
    [failed] = ask("And then?", "small", session=run.turn.session)
    deliver(failed).result()
    ended(failed, Status.FAILED, code="upstream_interrupted")
    failed.refresh_from_db()
    assert failed.context_usage["history"] > 0
