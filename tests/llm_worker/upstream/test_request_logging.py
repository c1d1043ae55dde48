"""Requests and responses can be logged; API keys never are."""

import json

from chat.models import ModelConfig
from chat.protocol.states import Status
from llm_worker.request.context import Message
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from tests.llm_worker.outcomes import ended

KEY = "sk-never-to-be-seen"


def logged(caplog, kind: str) -> list[dict]:
    lines = [
        record.getMessage()
        for record in caplog.records
        if record.name == "llm_worker.upstream.request_logging"
    ]
    return [json.loads(line.removeprefix(f"{kind} ")) for line in lines if line.startswith(f"{kind} ")]


def test_requests_and_responses_are_logged_without_the_key(
    deliver, ask, upstream, caplog, settings, monkeypatch
):
    settings.LOG_LLM_REQUESTS = True
    monkeypatch.setenv("ALPHA_KEY", KEY)
    ModelConfig.objects.create(name="alpha", base_url=upstream.base_url, api_key_env="ALPHA_KEY")
    upstream.reply({"reasoning": "Hm."}, {"text": "So "}, {"text": "be it."})
    [run] = ask("Why?", "alpha")
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert upstream.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    [request], [response] = logged(caplog, "LLM_REQUEST"), logged(caplog, "LLM_RESPONSE")
    assert request["messages"] == upstream.requests[0].messages
    assert (response["text"], response["reasoning"], response["finish"]) == ("So be it.", "Hm.", ["stop"])
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
