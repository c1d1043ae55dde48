"""Options of a run are sent to its model, by every attempt, and refusals name the option."""

import json

import pytest
from django.urls import reverse

from chat.models import ModelConfig, Run, SentRequest
from chat.protocol.states import Status
from chat.transcript.answer_settings import OPTION_NAMES
from tests import factories
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended, wait_for_text
from tests.tool_fixtures import MOON, search_call

SCHEMA = {"type": "object", "properties": {"n": {"maximum": 10**300}}}
FORM = {"type": "json_schema", "json_schema": {"name": "one", "schema": json.dumps(SCHEMA)}}
OPTIONS = {
    "temperature": 0.5, "top_p": 0.25, "max_output_tokens": 100, "stop": ["END"], "seed": 7,
    "reasoning_effort": "low", "response_format": FORM, "parallel_tool_calls": False,
}  # fmt: skip
SENT = {
    "temperature": 0.5, "top_p": 0.25, "max_tokens": 100, "stop": ["END"], "seed": 7, "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "one", "schema": SCHEMA}},
}  # fmt: skip


def options_in(body):
    return {name: body[name] for name in (*OPTION_NAMES, "max_tokens") if name in body}


def test_every_option_reaches_the_model_and_the_admin(ask, deliver, upstream):
    upstream.reply({"text": "{}"})
    [run] = ask(options=OPTIONS)
    deliver(run).result()
    [request] = upstream.requests
    assert options_in(request.body) == SENT
    sent = upstream.wait_for(lambda: SentRequest.objects.filter(run=run).first())
    assert sent.account["options"] == OPTIONS
    client = factories.staff_client("view_sentrequest", "view_run")
    page = client.get(reverse("admin:chat_sentrequest_change", args=[sent.pk])).content.decode()
    assert "temperature: 0.5" in page
    assert "reasoning_effort: low" in page


def test_without_options_none_is_sent(ask, deliver, upstream):
    upstream.reply({"text": "Because."})
    [run] = ask()
    deliver(run).result()
    assert options_in(upstream.requests[0].body) == {}


def test_a_second_attempt_sends_the_same(ask, deliver, runtime, upstream):
    upstream.reply({"text": "Half, "}, {"hang": True}, times=1)
    upstream.reply({"text": "whole."})
    [run] = ask(options={"temperature": 0.5})
    future = deliver(run)
    wait_for_text(upstream, run)
    runtime.drain(0)
    future.result(60)
    another_worker_does([run])
    assert [options_in(one.body) for one in upstream.requests] == [{"temperature": 0.5}] * 2


@pytest.mark.parametrize(
    ("options", "said", "name"),
    [
        ({"temperature": 0.5}, "Unsupported value: 'temperature' does not support 0.5", "temperature"),
        ({"max_output_tokens": 9}, "max_tokens is not supported with this model", "max_output_tokens"),
        ({"seed": 1, "stop": ["x"]}, "Unrecognized request argument supplied: stop", "stop"),
    ],
)
def test_an_option_that_the_server_refuses_is_named(ask, deliver, upstream, options, said, name):
    upstream.reply({"status": 400, "body": {"error": {"message": said}}})
    [run] = ask(options=options)
    deliver(run).result()
    run.refresh_from_db()
    ended(run, Status.FAILED, code="upstream_option_rejected", text="")
    assert run.error_message == f"The model server refused an option that was chosen: {name}."
    assert not run.error_retryable


def test_a_rejection_of_something_else_stays_one(ask, deliver, upstream):
    upstream.reply({"status": 400, "body": {"error": {"message": "messages: role must alternate"}}})
    [run] = ask(options={"seed": 1})
    deliver(run).result()
    run.refresh_from_db()
    ended(run, Status.FAILED, code="upstream_rejected", text="")


def test_an_option_that_the_model_has_lost_since_is_not_dropped_silently(ask, deliver, upstream):
    [run] = ask(options={"seed": 1})
    ModelConfig.objects.update(unsupported_options=["seed"])
    deliver(run).result()
    run.refresh_from_db()
    ended(run, Status.FAILED, code="option_unsupported", text="")
    assert run.error_message.endswith(": seed.")
    assert not upstream.requests


def test_json_answers_are_not_searched_for_citations(ask, deliver, upstream, agent_session, searching):
    searching.find(MOON, query="moon")
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": '{"numbers": [1]}'})
    session = agent_session(tools=["web_search"])
    [run] = ask(session=session, options={"response_format": {"type": "json_object"}})
    deliver(run).result()
    run = Run.objects.get(pk=run.pk)
    ended(run, Status.COMPLETED, text='{"numbers": [1]}')


def test_the_prompt_of_a_session_is_sent_beside_the_base_prompt(ask, deliver, upstream, agent_session):
    upstream.reply({"text": "Because."})
    session = agent_session(prompt="You are a poet.")
    session.change(prompt="Answer in rhyme.")
    [run] = ask(session=session)
    deliver(run).result()
    texts = [message["content"] for message in upstream.requests[0].body["messages"]]
    assert any(text.startswith("You are a poet.\n\nAnswer in rhyme.") for text in texts)
