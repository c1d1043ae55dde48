"""The report of how a request's context was built: its budget, and what was omitted and why."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chat.transcript.entries import Call, Document, Entry, Image, Round, TextFile
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import build_cycle
from llm_worker.records.request_log import RequestRecorder
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model
from tests.llm_worker.scripted_tool import ScriptedTool

pytestmark = pytest.mark.pure

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
PICTURE = Image("p", "moon.png", "data:image/png;base64,AAAA", 10, 10)
NOTES = TextFile("f", "notes.txt", 9, Document(1, "f", "notes.txt", "word " * 300), 300)


class WordyTool(ScriptedTool):
    description = "word " * 900


def turns(number: int, words: int = 100) -> list[Entry]:
    """Questions and answers of so many words each, and the question to answer."""
    turns_before = [
        Entry(str(place), "user" if place % 2 == 0 else "assistant", "word " * words, NOW, words)
        for place in range(2 * number)
    ]
    return [*turns_before, Entry("last", "user", "And now?", NOW, 3)]


def brief(entries: list[Entry], window: int = 100_000, **given: Any) -> Brief:
    model = Model("quick", "http://127.0.0.1:9", "KEY", max_output_tokens=50)
    prompt_parts = given.pop("framing", PromptParts(system="Be brief."))
    return Brief(model, entries, prompt_parts, context_window=window, max_cycles=3, **given)


def report_of(given: Brief, rounds: tuple[Round, ...] = ()) -> dict[str, Any]:
    return build_cycle(given, rounds, Allowance().open_loop(is_outermost=True)).report.as_json()


def test_a_complete_request_reports_no_omissions() -> None:
    noted = report_of(brief(turns(2)))
    assert noted["left_out"] == []
    assert (noted["window"], noted["output"], noted["budget"]) == (100_000, 50, 94_950)


def test_history_over_the_budget_is_reported() -> None:
    [omitted] = report_of(brief(turns(5), window=700))["left_out"]
    kept = 10 - omitted["count"]
    assert 0 < kept < 10
    assert omitted == {
        "why": "budget",
        "count": 10 - kept,
        "tokens": 100 * (10 - kept),
        "what": ["0", str(9 - kept)],
        "partly": False,
    }


def test_an_answer_truncated_to_its_end_is_reported() -> None:
    entries = turns(1, words=20)
    search = Round((Call("c", "web_search", {"query": "word " * 300}, "found"),))
    entries[1] = replace(entries[1], rounds=(search,))
    [omitted] = report_of(brief(entries, window=300))["left_out"]
    assert (omitted["count"], omitted["partly"]) == (2, True)


@pytest.mark.parametrize(
    ("entries", "given", "left_out"),
    [
        pytest.param(
            turns(1),
            {"framing": PromptParts(summary="They greeted.", summary_id="s")},
            [{"why": "summary", "what": ["s"]}],
            id="what a summary stands for",
        ),
        pytest.param(
            turns(0),
            {"framing": PromptParts(summary="word " * 900, summary_id="s"), "window": 500},
            [{"why": "summary_too_long", "what": ["s"]}],
            id="a summary that is too long itself",
        ),
        pytest.param(
            [replace(turns(1)[0], images=(PICTURE,)), *turns(1)[1:]],
            {"framing": PromptParts(sees_images=False)},
            [{"why": "image", "count": 1}],
            id="a picture for a model that does not see",
        ),
        pytest.param(
            [
                turns(1)[0],
                replace(turns(1)[1], rounds=(Round((Call("c", "web_search", {}, "found"),)),)),
                turns(1)[2],
            ],
            {},
            [{"why": "earlier_response", "count": 1}],
            id="a tool response of an earlier turn",
        ),
    ],
)
def test_other_omissions_are_reported_with_their_reason(
    entries: list[Entry], given: dict[str, Any], left_out: list[dict[str, Any]]
) -> None:
    assert report_of(brief(entries, **given))["left_out"] == left_out


def test_omitted_files_are_reported_by_name() -> None:
    entries = turns(1)
    entries[0] = replace(entries[0], files=(NOTES,))
    omitted, file = report_of(brief(entries, window=400))["left_out"]
    assert (omitted["why"], omitted["partly"]) == ("budget", True)
    assert file == {"why": "file", "count": 1, "what": ["notes.txt"]}


def test_a_truncated_response_is_reported() -> None:
    rounds = (Round((Call("c", "web_search", {}, "word " * 3000),)),)
    [shortened] = report_of(brief(turns(0), window=2000), rounds)["left_out"]
    assert shortened == {"why": "shortened", "count": 1, "what": ["c"]}


def test_the_report_is_stored_with_the_request_and_the_tokens_of_each_message() -> None:
    cycle = build_cycle(brief(turns(1)), (), Allowance().open_loop(is_outermost=True))
    recorder = RequestRecorder()
    recorder.record(cycle.request.messages, NOW, report=cycle.report)
    [row] = [one.to_row() for one in recorder.take()]
    assert '"budget":94950' in row.account
    assert row.parts.startswith('[["S",')
    assert row.parts.count('"U"') == 2


def test_tools_that_the_server_does_not_take_are_reported() -> None:
    [omitted] = report_of(brief(turns(1), left_out_tools=["a__one", "a__two"]))["left_out"]
    assert omitted == {"why": "tool", "count": 2, "what": ["a__one", "a__two"]}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"framing": PromptParts(system="word " * 500, agent_prompt="word " * 500)}, "prompt_too_long"),
        ({"tools": [WordyTool("act")]}, "tools_too_long"),
        ({"entries": [Entry("last", "user", "word " * 900, NOW, 900)]}, "context_too_long"),
    ],
)
def test_a_request_that_is_too_long_says_what_is_longest(given: dict[str, Any], code: str) -> None:
    entries = given.pop("entries", turns(1))
    with pytest.raises(ModelFailed) as failed:
        report_of(brief(entries, window=900, **given))
    assert failed.value.code == code
