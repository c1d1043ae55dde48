"""Requests and responses can be logged; API keys never are."""

import asyncio
import json

import pytest

from chat.models import ModelConfig, Run, Turn
from chat.protocol.states import Status
from chat.transcript.entries import Image
from config.log_format import TextFormatter
from llm_worker.request.context import Message
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from tests.llm_worker.outcomes import ended

KEY = "sk-never-to-be-seen"


def logged(caplog, kind: str) -> list[dict]:
    """The lines as they are written, read again."""
    lines = [
        json.loads(TextFormatter().format(record))
        for record in caplog.records
        if record.name == "llm_worker.upstream.request_logging"
    ]
    return [line for line in lines if line["event"] == kind]


def test_requests_and_responses_are_logged_without_the_key(
    deliver, ask, upstream, caplog, settings, monkeypatch
):
    settings.LOG_LLM_REQUESTS = True
    monkeypatch.setenv("LLM_KEY_ALPHA", KEY)
    ModelConfig.objects.create(name="alpha", base_url=upstream.base_url, api_key_env="LLM_KEY_ALPHA")
    upstream.reply({"reasoning": "Hm."}, {"text": "So "}, {"text": "be it."})
    [run] = ask("Why?", "alpha")
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert upstream.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    [request], [response] = logged(caplog, "LLM_REQUEST"), logged(caplog, "LLM_RESPONSE")
    assert request["messages"] == upstream.requests[0].messages
    assert (response["text"], response["reasoning"], response["finish_reason"]) == (
        "So be it.",
        "Hm.",
        "stop",
    )
    assert response["tool_calls"] == []
    assert response["usage"]["completion_tokens"] == 2
    assert KEY not in caplog.text


def test_a_rejected_key_is_not_logged(deliver, ask, upstream, caplog, settings, monkeypatch):
    settings.LOG_LLM_REQUESTS = True
    monkeypatch.setenv("LLM_API_KEY", KEY)
    upstream.reply({"status": 401, "body": {"error": {"message": f"Incorrect API key provided: {KEY}"}}})
    [run] = ask()
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_auth")
    assert KEY not in caplog.text


def test_logging_is_off_by_default(deliver, ask, caplog):
    [run] = ask()
    deliver(run).result(60)
    assert "LLM_RE" not in caplog.text


async def test_requests_that_do_not_stream_are_logged(upstream, caplog, settings):
    settings.LOG_LLM_REQUESTS = True
    upstream.reply({"text": "Tides"}, stream=False)
    models = LanguageModels(connections=1, silence_s=30)
    try:
        await models.complete(Request(Model("alpha", upstream.base_url, KEY), [Message("U", "Name this.")]))
    finally:
        await models.close()
    [request], [response] = logged(caplog, "LLM_REQUEST"), logged(caplog, "LLM_RESPONSE")
    assert request["messages"] == [{"role": "user", "content": "Name this."}]
    assert (response["text"], response["finish_reason"]) == ("Tides", "stop")
    assert KEY not in caplog.text


def test_both_lines_carry_run_attempt_cycle_model_and_request_id(
    deliver, ask, upstream, caplog, settings, scripted_tool, agent_session
):
    settings.LOG_LLM_REQUESTS = True
    upstream.reply(
        {"text": "Let me see."}, {"call": {"name": "act", "arguments": {"n": 1}, "id": "c1"}}, times=1
    )
    upstream.reply({"text": "Done."})
    [run] = ask(session=agent_session(tools=["act"]))
    Turn.objects.filter(pk=run.turn_id).update(request_id="from-the-browser")
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    requests, responses = logged(caplog, "LLM_REQUEST"), logged(caplog, "LLM_RESPONSE")
    for lines in (requests, responses):
        ids = [
            (line["run"], line["attempt"], line["cycle"], line["model"], line["request_id"]) for line in lines
        ]
        assert ids == [(str(run.pk), 1, cycle, "scripted", "from-the-browser") for cycle in (1, 2)]
    assert [line["finish_reason"] for line in responses] == ["tool_calls", "stop"]
    [call] = responses[0]["tool_calls"]
    assert (call["id"], call["name"], json.loads(call["arguments"])) == ("c1", "act", {"n": 1})


async def test_data_urls_are_shortened_to_their_type_and_size(upstream, caplog, settings):
    settings.LOG_LLM_REQUESTS = True
    upstream.reply({"text": "A cat"}, stream=False)
    models = LanguageModels(connections=1, silence_s=30)
    picture = Image("f1", "cat.png", "data:image/png;base64," + "iVBORw0K" * 1000, 10, 10)
    try:
        await models.complete(
            Request(Model("alpha", upstream.base_url), [Message("U", "What is it?", images=(picture,))])
        )
    finally:
        await models.close()
    [request] = logged(caplog, "LLM_REQUEST")
    assert "iVBORw0K" * 1000 in str(upstream.asides[0].body)
    assert "iVBORw0KiVBOR" not in str(request)
    assert "data:image/png;base64,(8000 characters left out)" in str(request)


async def test_each_failed_attempt_has_a_response_with_code_and_status(upstream, caplog, settings):
    settings.LOG_LLM_REQUESTS = True
    refusal = {"status": 503, "body": {"error": {"message": "quoted: Name this."}}}
    upstream.reply(refusal, times=1, stream=False)
    upstream.reply({"status": 404, "body": {"error": {"code": "model_not_found"}}}, stream=False)
    models = LanguageModels(connections=1, silence_s=30, first_retry_s=0.001)
    with pytest.raises(ModelFailed):
        await models.complete(Request(Model("alpha", upstream.base_url), [Message("U", "Name this.")]))
    await models.close()
    assert len(logged(caplog, "LLM_REQUEST")) == 2
    responses = logged(caplog, "LLM_RESPONSE")
    assert [line["error"] for line in responses] == [
        {"code": "upstream_unavailable", "status": 503},
        {"code": "model_not_found", "status": 404},
    ]
    assert {(line["model"], line["text"]) for line in responses} == {("alpha", "")}
    assert "quoted" not in str(responses)


async def test_a_request_that_nobody_waits_for_any_more_has_a_response(upstream, caplog, settings):
    settings.LOG_LLM_REQUESTS = True
    upstream.reply({"hang": True}, stream=False)
    models = LanguageModels(connections=1, silence_s=30)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await models.complete(Request(Model("alpha", upstream.base_url), [Message("U", "Name this.")]))
    await models.close()
    [response] = logged(caplog, "LLM_RESPONSE")
    assert response["error"] == {"code": "cancelled", "status": None}


def test_a_failed_run_has_a_response_for_each_request(deliver, ask, upstream, caplog, settings):
    settings.LOG_LLM_REQUESTS = True
    upstream.reply({"status": 500}, times=1)
    upstream.reply({"text": "So "}, {"eof": "abort"})
    [run] = ask()
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_interrupted", text="So ")
    assert len(logged(caplog, "LLM_REQUEST")) == 2
    first, second = logged(caplog, "LLM_RESPONSE")
    assert (first["text"], first["error"]) == ("", {"code": "upstream_unavailable", "status": 500})
    assert (second["text"], second["error"]["code"]) == ("So ", Run.objects.get(pk=run.pk).error_code)
    assert (second["run"], second["attempt"], second["cycle"]) == (str(run.pk), 1, 1)
