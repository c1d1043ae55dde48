"""What one run may use, counted over its agent tools, its parallel calls and its attempts."""

from typing import Any

import pytest

from chat.models import ModelConfig, ToolCall
from chat.runs.cancellation import stop_run
from chat.transcript.usage import RunSpending
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.continuing import CUT, answer_of, entries, fresh, go_on
from tests.llm_worker.outcomes import ended, stopped, wait_for_text
from tests.tool_fixtures import MOON, search_call, tool_responses

RESEARCHERS = 8
QUERIES = ["a", "b", "c", "d", "e"]
REPORT = "What I have."


def may_call(body: dict[str, Any]) -> set[str]:
    """The tools that this request offers and allows."""
    forbidden = body.get("tool_choice") == "none"
    return set() if forbidden else {tool["function"]["name"] for tool in body.get("tools", ())}


def insatiable(body: dict[str, Any]) -> list[dict[str, Any]]:
    """As long as it may it asks for more: the answer for research agents, each of those for searches."""
    names = may_call(body)
    if not names:
        return [{"text": REPORT}]
    if "research_agent" in names:
        questions = [{"question": f"Part {place}?"} for place in range(RESEARCHERS)]
        return [{"call": {"name": "research_agent", "arguments": one}} for one in questions]
    return [{"call": {"name": "web_search", "arguments": {"queries": QUERIES}}}]


@pytest.fixture
def researching(searching, agent_session):
    """A session whose agent may search and start research agents."""
    searching.find(MOON)
    return agent_session(tools=["web_search", "research_agent"])


@pytest.fixture
def answered(researching, ask, deliver, upstream):
    """Ask the insatiable model; returns the ended run."""

    def answered(text=REPORT):
        upstream.reply_by(insatiable)
        [run] = ask("Why?", session=researching)
        deliver(run).result(110)
        ended(run, "completed", text=text)
        return run

    return answered


def refusals(run, words):
    return [
        call.response for call in ToolCall.objects.filter(run=run, status="failed") if words in call.response
    ]


def test_one_question_causes_no_more_than_the_limits_say(answered, upstream, searching, settings):
    """Without limits: 166 inferences and 600 searches."""
    settings.MAX_RUN_INFERENCES, settings.MAX_RUN_SEARCHES = 30, 40
    run = answered()
    assert len(upstream.requests) == run.spending.inferences == run.cycles == 30
    assert len(searching.queries) == run.spending.searches == 40


def test_by_default_they_are_bounded_too(answered, upstream, searching):
    run = answered()
    assert len(upstream.requests) == 64
    assert len(searching.queries) <= 200
    assert run.spending.tool_calls <= 128


@pytest.mark.parametrize(("limit", "rounds"), [(1, 0), (2, 1)])
def test_the_last_inference_is_asked_without_tools(answered, upstream, settings, limit, rounds):
    settings.MAX_RUN_INFERENCES = limit
    run = answered()
    assert len(upstream.requests) == limit
    assert not may_call(upstream.requests[-1].body)
    assert "no further steps" in str(upstream.requests[-1].messages[-1]["content"])
    assert ToolCall.objects.filter(run=run).count() == rounds * RESEARCHERS
    assert len(refusals(run, "at most 2 steps of models")) == rounds * RESEARCHERS


def test_calls_beyond_the_limit_are_refused_and_the_model_is_told(answered, upstream, settings):
    settings.MAX_RUN_TOOL_CALLS, settings.MAX_LLM_CYCLES = 3, 2
    run = answered()
    assert run.spending.tool_calls == 3
    told = [response for response in tool_responses(upstream.requests[-1]) if "Not run" in response]
    assert told == [
        "Not run: one answer may make at most 3 tool calls, and they are used up. Answer with what you have."
    ] * (RESEARCHERS - 3)


def test_searches_of_agents_side_by_side_are_counted_exactly(answered, searching, settings):
    settings.MAX_RUN_SEARCHES = 12
    run = answered()
    assert len(searching.queries) == run.spending.searches == 10
    assert refusals(run, "at most 12 searches, of which 2 are left. Answer with what you have.")


# Tokens


@pytest.fixture
def tokens_of(upstream):
    """The model server reports so many tokens for each inference."""
    return lambda prompt, completion: {"usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


def test_when_the_tokens_end_the_model_answers_with_what_it_has(
    researching, ask, deliver, upstream, settings, tokens_of
):
    settings.MAX_RUN_TOKENS = 60_000
    upstream.reply(search_call("moon"), tokens_of(45_000, 1), times=1)
    upstream.reply({"text": REPORT}, tokens_of(5_000, 5))
    [run] = ask("Why?", session=researching)
    deliver(run).result(60)
    ended(run, "completed", text=REPORT)
    assert not may_call(upstream.requests[1].body)
    assert (run.spending.tokens, run.finish_reason) == (50_006, "stop")


def test_an_answer_ends_where_the_tokens_end_and_is_kept(
    researching, ask, deliver, upstream, settings, tokens_of
):
    settings.MAX_RUN_TOKENS = 20_000
    ModelConfig.objects.create(name="long", base_url=upstream.base_url, max_output_tokens=4_000)
    upstream.reply({"text": "Let me look. "}, search_call("moon"), tokens_of(17_000, 500), times=1)
    upstream.reply({"text": "It is"}, {"finish": "length"}, tokens_of(1_500, 1_000))
    [run] = ask("Why?", "long", session=researching)
    deliver(run).result(60)
    ended(run, "completed", text="Let me look. \n\nIt is")
    first, second = (request.body["max_tokens"] for request in upstream.requests)
    assert first == 4_000
    assert second < 2_500
    assert (run.finish_reason, run.finish_tokens, run.spending.tokens) == ("token_limit", None, 20_000)


def test_without_tokens_for_another_question_the_text_before_the_tools_is_the_answer(
    researching, ask, deliver, upstream, settings, tokens_of
):
    settings.MAX_RUN_TOKENS = 20_000
    ModelConfig.objects.create(name="short", base_url=upstream.base_url, max_output_tokens=100)
    upstream.reply({"text": "Let me look. "}, search_call("moon"), tokens_of(19_800, 100), times=1)
    [run] = ask("Why?", "short", session=researching)
    deliver(run).result(60)
    ended(run, "completed", text="Let me look. ")
    assert (len(upstream.requests), run.finish_reason) == (1, "token_limit")


def test_a_question_that_takes_more_than_all_tokens_is_refused_in_words(ask, deliver, upstream, settings):
    settings.MAX_RUN_TOKENS = 5
    [run] = ask("Why " * 50)
    deliver(run).result(60)
    ended(run, "failed", code="run_limit_reached")
    assert upstream.requests == []


# Characters


@pytest.mark.parametrize(("limit", "reason"), [(11, "stop"), (10, "character_limit")])
def test_an_answer_ends_at_its_characters_and_is_kept(ask, deliver, upstream, settings, limit, reason):
    settings.MAX_RUN_CHARACTERS = limit
    hang = [{"hang": True}] if reason == "character_limit" else []
    upstream.reply({"text": "Hello "}, {"text": "there"}, *hang)
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, "completed", text="Hello there"[:limit])
    assert run.finish_reason == reason
    upstream.wait_for(lambda: upstream.requests[0].ended)


def test_reasoning_ends_at_its_characters_too(ask, deliver, upstream, settings):
    settings.MAX_RUN_CHARACTERS = 5
    upstream.reply({"reasoning": "Hm, hm, hm."}, {"hang": True})
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, "failed", code="run_limit_reached")
    assert run.message.reasoning == "Hm, h"


def test_the_report_of_an_agent_that_was_cut_says_so(researching, ask, deliver, upstream, settings):
    settings.MAX_RUN_CHARACTERS = 20
    upstream.reply({"call": {"name": "research_agent", "arguments": {"question": "Part?"}}}, times=1)
    upstream.reply({"text": "A report of more than twenty characters"}, times=1)
    upstream.reply({"text": "So it is."})
    [run] = ask("Why?", session=researching)
    deliver(run).result(60)
    ended(run, "completed", text="So it is.")
    [report] = tool_responses(upstream.requests[-1])
    assert report == (
        "A report of more tha\n\n(The report is incomplete. Stopped: one answer may not be longer.)"
    )


# Continuing and other attempts


@pytest.mark.parametrize(
    ("name", "value"), [("MAX_RUN_INFERENCES", 1), ("MAX_RUN_TOKENS", 13), ("MAX_RUN_CHARACTERS", 11)]
)
def test_continuing_is_no_way_around_a_limit(cut, settings, name, value):
    run = cut({"text": "The Moon pu"})
    setattr(settings, name, value + 1)
    assert answer_of(run)["is_continuable"]
    setattr(settings, name, value)
    assert not answer_of(run)["is_continuable"]
    assert go_on(run, 409)["code"] == "run_limit_reached"


def test_a_continuation_counts_on(cut, deliver, upstream, settings):
    run = cut()
    assert run.spending == RunSpending(inferences=1, tokens=13)
    settings.MAX_RUN_INFERENCES = 2
    go_on(run)
    upstream.reply({"text": "lls."}, *CUT)
    deliver(run).result(60)
    run = fresh(run)
    assert run.spending == RunSpending(inferences=2, tokens=26)
    assert go_on(run, 409)["code"] == "run_limit_reached"


@pytest.mark.parametrize("reason", ["token_limit", "character_limit"])
def test_an_answer_that_reached_a_limit_cannot_be_continued(cut, reason):
    run = cut()
    type(run).objects.filter(pk=run.pk).update(finish_reason=reason)
    assert "is_continuable" not in answer_of(run)
    assert answer_of(run)["finish_reason"] == reason
    assert go_on(run, 409)["code"] == "not_continuable"


def test_another_worker_goes_on_counting(researching, ask, deliver, runtime, upstream, searching, settings):
    """The rounds of the first attempt are counted with those of the second."""
    settings.MAX_RUN_INFERENCES, settings.MAX_RUN_SEARCHES, settings.MAX_RUN_TOKENS = 3, 2, 10**6
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    upstream.reply(search_call("moon"), search_call("sun"), usage, times=1)
    upstream.reply({"hang": True}, times=1)
    upstream.reply(search_call("sea"), usage, times=1)
    upstream.reply({"text": REPORT}, usage)
    [run] = ask("Why?", "plain", session=researching)
    future = deliver(run)
    upstream.wait_for_requests(2)
    runtime.drain(0)
    assert future.result(60)
    run.refresh_from_db()
    assert run.spending == RunSpending(inferences=1, tool_calls=1, searches=2, tokens=110)
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt) == ("completed", 2)
    assert run.spending == RunSpending(inferences=3, tool_calls=1, searches=2, tokens=330)
    assert sorted(searching.queries) == ["moon", "sun"]
    assert refusals(run, "of which none is left")


def test_readers_of_the_log_are_told_the_limit(ask, deliver, upstream, settings):
    settings.MAX_RUN_CHARACTERS = 5
    upstream.reply({"text": "Hello there"})
    [run] = ask("Why?")
    deliver(run).result(60)
    assert entries(run)[-1].obj.finish_reason == "character_limit"


def test_a_request_that_the_server_refuses_takes_no_tokens(ask, deliver, upstream):
    upstream.reply({"status": 400})
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, "failed", code="upstream_rejected")
    assert run.spending == RunSpending(inferences=1)


def test_a_call_that_broke_off_takes_the_tokens_that_it_has_written(ask, deliver, upstream):
    cut = {
        "delta": {
            "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{" + " 1" * 500}}]
        }
    }
    upstream.reply(cut, {"eof": "abort"})
    [run] = ask("Why?")
    deliver(run).result(60)
    run.refresh_from_db()
    assert run.spending.tokens > 500 * run.spending.inferences


def test_a_stopped_answer_takes_the_tokens_that_it_has_written(ask, deliver, upstream):
    upstream.reply({"text": "Hello there"}, {"hang": True})
    [run] = ask("Why?")
    future = deliver(run)
    wait_for_text(upstream, run, len("Hello there"))
    stop_run(run.pk)
    stopped(upstream, future, run)
    assert run.spending.tokens > 2
