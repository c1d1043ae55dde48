"""Checks of providers: what a worker stores of them, and that nothing late or wrong is stored."""

from typing import Any

import pytest

from chat.models import ModelConfig, Provider
from features.providers import check as provider_check
from features.providers.api import present_provider
from features.providers.providers import request_check
from tests.secrets_keys import SECOND
from tests.upstream import Upstream

KEY = "key-of-the-checked-server"


def run_check(runtime: Any, provider_id: str, check_id: str) -> None:
    """Carry out a check as its task does, on this runtime."""
    runtime.run_beside(
        lambda services: provider_check.check_provider(
            provider_id, check_id, services.database, services.models
        )
    )


@pytest.fixture
def provider(transactional_db: None, upstream: Upstream) -> Provider:
    upstream.models = ["zulu", "alpha"]
    upstream.api_key = KEY
    provider = Provider.objects.create(name="Cloud", base_url=upstream.base_url)
    provider.change(api_key=KEY)
    return provider


@pytest.fixture
def check(runtime: Any) -> Any:
    """Requests a check, has it carried out, and returns how staff see it."""

    def check(provider: Provider, model: str | None = None) -> Any:
        request_check(provider, model)
        run_check(runtime, str(provider.pk), provider.latest_check["id"])
        provider.refresh_from_db()
        return present_provider(provider)["latest_check"]

    return check


def test_the_models_are_listed_and_none_is_tried_while_none_is_enabled(check, provider, upstream):
    found = check(provider)
    assert (found["status"], found["error"], found["model"], found["latency_ms"]) == (
        "done",
        None,
        None,
        None,
    )
    assert [model["id"] for model in found["models"]] == ["alpha", "zulu"]
    assert upstream.asides == []


def test_a_model_that_is_enabled_answers_with_one_token_and_the_time_it_took(check, provider, upstream):
    ModelConfig.objects.create(name="mine", provider=provider, upstream_name="zulu")
    upstream.reply({"text": "Hi"}, stream=False)
    found = check(provider)
    assert (found["model"], found["test_error"]) == ("zulu", None)
    assert found["latency_ms"] >= 0
    body = upstream.asides[0].body
    assert (body["model"], body["max_tokens"], body["stream"]) == ("zulu", 1, False)


def test_a_model_that_refuses_so_short_an_answer_is_there(check, provider, upstream):
    said = "Could not finish the message because max_tokens or model output limit was reached."
    upstream.reply({"status": 400, "body": {"error": {"message": said}}}, stream=False)
    found = check(provider, "zulu")
    assert found["test_error"] is None
    assert found["latency_ms"] is not None


def test_a_model_that_is_not_there_is_said(check, provider, upstream):
    upstream.reply({"status": 404}, stream=False)
    found = check(provider, "none")
    assert (found["error"], found["test_error"]["code"]) == (None, "model_not_found")


def test_a_server_that_redirects_the_request_is_said_with_where_it_leads(check, provider, upstream):
    upstream.reply({"status": 308, "location": "http://elsewhere.invalid/v2?key=7"}, stream=False)
    error = check(provider, "zulu")["test_error"]
    assert (error["code"], error["detail"]) == ("redirected", "http://elsewhere.invalid/v2")


def test_a_wrong_key_is_said_without_the_key(check, provider, upstream):
    upstream.api_key = "another"
    found = check(provider)
    assert (found["error"]["code"], found["models"]) == ("upstream_auth", [])
    assert KEY not in repr(found)


def test_a_disabled_provider_can_be_checked_before_it_is_enabled(check, provider):
    provider.change(is_enabled=False)
    assert check(provider)["error"] is None


def test_a_key_that_cannot_be_read_is_said(check, provider, settings, upstream):
    settings.SECRETS_KEYS = [SECOND]
    assert check(provider)["error"]["code"] == "key_unreadable"
    provider.change(api_key="")
    settings.SECRETS_KEYS = []
    provider.refresh_from_db()
    assert check(provider)["error"]["code"] == "upstream_auth"
    assert "Authorization" not in upstream.listings[-1]


def test_an_address_that_is_refused_by_now_is_not_asked(check, provider, upstream):
    Provider.objects.update(base_url="http://169.254.169.254/v1")
    assert check(provider)["error"]["code"] == "address_refused"
    assert upstream.listings == []


@pytest.mark.parametrize("overtake", [lambda row: request_check(row, "later"), lambda row: row.retire()])
def test_the_result_of_a_check_that_was_overtaken_is_not_stored(
    runtime, provider, upstream, overtake, monkeypatch
):
    monkeypatch.setattr("features.providers.providers._is_pending", lambda *_: False)
    request_check(provider, "")
    first = provider.latest_check["id"]
    overtake(provider)
    run_check(runtime, str(provider.pk), first)
    provider.refresh_from_db()
    assert provider.latest_check is None or provider.latest_check["status"] == "queued"
    assert upstream.listings == []


def test_a_model_that_does_not_answer_is_given_up(check, provider, upstream, monkeypatch):
    monkeypatch.setattr(provider_check, "ANSWER_S", 0.0)
    upstream.reply({"silent": True}, stream=False)
    assert check(provider, "zulu")["test_error"]["code"] == "upstream_timeout"
