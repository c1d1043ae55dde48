"""Title tasks: the request to the model, the stored title, and the fallback."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chat.models import ModelConfig, Run, SessionEvent
from chat.protocol.states import Status
from features.titles import generation as titles
from tests.features.titles.titling import name_session
from tests.llm_worker.outcomes import ended

QUESTION = "Why are there two tides a day, and not just one?"
FALLBACK = "Why are there two tides a day, and not…"


@pytest.fixture
def answered(deliver: Any, ask: Callable[..., list[Run]], upstream: Any) -> Run:
    """A session of one turn, as the worker finds it."""
    upstream.reply({"text": "The Moon pulls both sides."})
    [run] = ask(QUESTION)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    return run


def title_of(run: Run) -> str:
    run.turn.session.refresh_from_db()
    return run.turn.session.title


def announced_titles(run: Run) -> list[str]:
    events = SessionEvent.objects.filter(session=run.turn.session, kind="session").order_by("n")
    return [event.payload["title"] for event in events]


def test_the_model_that_answered_names_the_session(runtime, answered, upstream):
    upstream.reply({"text": '"Two Tides a Day."'}, stream=False)
    name_session(runtime, str(answered.pk))
    assert (title_of(answered), announced_titles(answered)) == ("Two Tides a Day", ["Two Tides a Day"])
    [asked] = upstream.asides
    assert (asked.body["stream"], asked.body["model"], "stream_options" in asked.body) == (
        False, "scripted", False,
    )  # fmt: skip
    assert asked.body["max_tokens"] <= titles.MAX_OUTPUT_TOKENS
    [system, shown] = asked.messages
    assert (system["role"], shown["role"]) == ("system", "user")
    assert QUESTION in shown["content"]
    assert "The Moon pulls both sides." in shown["content"]


PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "let me think"}]},
    {"type": "text", "text": "The Right Title"},
]


@pytest.mark.parametrize(
    "content",
    [PARTS, '```json\n{"title": "The Right Title"}\n```', "let me think\n</think>\n\nThe Right Title"],
    ids=["in parts", "in a fence of JSON", "after thinking without its tag"],
)
def test_a_title_is_undressed_however_its_server_sends_it(runtime, answered, upstream, content):
    whole = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    upstream.reply({"raw": json.dumps(whole)}, stream=False)
    name_session(runtime, str(answered.pk))
    assert title_of(answered) == "The Right Title"


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({"status": 400}, id="it refuses the request"),
        pytest.param({"status": 503}, id="it is busy"),
        pytest.param({"text": ""}, id="it says nothing"),
        pytest.param({"text": "<think>Well"}, id="it thinks and says nothing"),
        pytest.param({"refusal": "I would rather not."}, id="it declines"),
        pytest.param({"raw": "{nonsense"}, id="it talks nonsense"),
    ],
)
def test_without_a_title_from_the_model_the_question_is_the_title(runtime, answered, upstream, step):
    upstream.reply(step, stream=False)
    name_session(runtime, str(answered.pk))
    assert (title_of(answered), announced_titles(answered)) == (FALLBACK, [FALLBACK])


def test_a_model_that_hangs_times_out(runtime, answered, upstream, monkeypatch):
    monkeypatch.setattr(titles, "TIMEOUT_S", 0.2)
    upstream.reply({"hang": True}, stream=False)
    name_session(runtime, str(answered.pk))
    assert title_of(answered) == FALLBACK


@pytest.mark.parametrize("change", [{"is_demo": True}, {"base_url": ""}])
def test_a_model_that_cannot_be_used_gets_no_request(runtime, answered, upstream, change):
    ModelConfig.objects.update(**change)
    name_session(runtime, str(answered.pk))
    assert (title_of(answered), upstream.asides) == (FALLBACK, [])


def test_a_session_with_a_title_costs_no_request(runtime, answered, upstream):
    titles.set_title(answered.turn.session_id, "Mine")
    name_session(runtime, str(answered.pk))
    assert (title_of(answered), upstream.asides) == ("Mine", [])


def test_a_title_set_by_the_owner_meanwhile_is_kept(runtime, answered, upstream):
    upstream.reply({"wait": "owner"}, {"text": "Two Tides"}, stream=False)
    with ThreadPoolExecutor(1) as thread:
        titling = thread.submit(name_session, runtime, str(answered.pk))
        upstream.wait_for(lambda: upstream.asides)
        answered.turn.session.change(title="Mine")
        upstream.release("owner")
        titling.result(60)
    assert (title_of(answered), announced_titles(answered)) == ("Mine", [])


def test_a_deleted_session_costs_no_request(runtime, answered, upstream):
    answered.turn.session.delete()
    name_session(runtime, str(answered.pk))
    assert upstream.asides == []


def test_a_draining_worker_leaves_the_title_to_the_next_answer(runtime, answered, upstream):
    runtime.drain(60)
    name_session(runtime, str(answered.pk))
    assert (title_of(answered), upstream.asides) == ("", [])
