"""Turns that providers answer: a worker that has never heard of one uses what its row has at that moment."""

from typing import Any

import pytest

from chat.models import ModelConfig, Provider
from chat.models.model_requests import SentRequest
from chat.protocol.states import Status
from tests.features.titles.titling import name_session
from tests.llm_worker.outcomes import ended
from tests.secrets_keys import SECOND
from tests.upstream import Upstream

KEY = "key-of-the-second-server"
NEW_KEY = "another-key-of-the-second"


@pytest.fixture
def second():
    with Upstream() as server:
        server.api_key = KEY
        yield server


@pytest.fixture
def provider(transactional_db, second) -> Provider:
    provider = Provider.objects.create(name="Second", base_url=second.base_url)
    provider.change(api_key=KEY)
    ModelConfig.objects.create(
        name="large", provider=provider, upstream_name="vendor/large-v2", prompt_price=1, completion_price=1
    )
    return provider


@pytest.fixture
def answer(deliver, ask) -> Any:
    """Asks a model and returns the run when it has ended."""

    def answer(*models: str):
        runs = ask("When is high tide?", *(models or ("large",)))
        for run in runs:
            deliver(run).result(60)
            run.refresh_from_db()
        return runs[0] if len(runs) == 1 else runs

    return answer


def authorizations(server: Upstream) -> list[str]:
    return [request.headers["Authorization"] for request in server.requests]


def test_the_second_server_answers_with_its_own_key_and_name_for_the_model(
    answer, provider, second, upstream
):
    second.reply({"text": "At noon."})
    run = answer()
    ended(run, Status.COMPLETED, text="At noon.")
    assert authorizations(second) == [f"Bearer {KEY}"]
    assert second.requests[0].body["model"] == "vendor/large-v2"
    assert upstream.requests == []
    assert (run.model, run.cost is not None) == ("large", True)


def test_both_servers_answer_side_by_side_each_with_its_key(answer, provider, second, upstream, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "key-of-the-first")
    first_run, second_run = answer("scripted", "large")
    ended(first_run, Status.COMPLETED)
    ended(second_run, Status.COMPLETED)
    assert authorizations(upstream) == ["Bearer key-of-the-first"]
    assert authorizations(second) == [f"Bearer {KEY}"]


def test_the_next_turn_uses_a_key_that_was_changed_meanwhile(answer, provider, second):
    answer()
    second.api_key = NEW_KEY
    ended(answer(), Status.FAILED, code="upstream_auth")
    provider.change(api_key=NEW_KEY)
    ended(answer(), Status.COMPLETED)
    assert authorizations(second) == [f"Bearer {KEY}", f"Bearer {KEY}", f"Bearer {NEW_KEY}"]


def test_the_next_turn_goes_to_an_address_that_was_changed_meanwhile(answer, provider, second, upstream):
    answer()
    provider.change(base_url=upstream.base_url, api_key="")
    ended(answer(), Status.COMPLETED)
    assert (len(second.requests), len(upstream.requests)) == (1, 1)


@pytest.mark.parametrize("end", [lambda row: row.change(is_enabled=False), lambda row: row.retire()])
def test_a_queued_run_of_a_provider_that_was_disabled_or_deleted_fails_without_a_request(
    deliver, ask, provider, second, end
):
    [run] = ask("When is high tide?", "large")
    end(provider)
    deliver(run).result(60)
    run.refresh_from_db()
    ended(run, Status.FAILED, code="model_not_configured")
    assert "Second is disabled or deleted" in run.upstream_message
    assert second.requests == []


def test_a_run_that_has_begun_is_answered_to_its_end_although_its_provider_is_deleted(
    deliver, ask, provider, second
):
    second.reply({"text": "At "}, {"wait": "deleted"}, {"text": "noon."})
    [run] = ask("When is high tide?", "large")
    delivered = deliver(run)
    second.wait_for_requests()
    provider.retire()
    second.release("deleted")
    delivered.result(60)
    run.refresh_from_db()
    ended(run, Status.COMPLETED, text="At noon.")
    assert run.cost is not None


def test_a_key_that_cannot_be_decrypted_fails_the_run_in_words(answer, provider, second, settings):
    settings.SECRETS_KEYS = [SECOND]
    run = answer()
    ended(run, Status.FAILED, code="model_not_configured")
    assert "no key of SECRETS_KEYS decrypts that of the provider Second" in run.upstream_message
    assert second.requests == []


def test_the_key_follows_no_redirect_and_is_in_no_record(answer, provider, second, upstream, caplog):
    location = f"{upstream.base_url}/chat/completions"
    second.reply(
        {"status": 307, "body": {"error": {"message": f"moved; you sent {KEY}"}}, "location": location}
    )
    run = answer()
    ended(run, Status.FAILED, code="upstream_rejected")
    assert upstream.requests == []
    records = f"{caplog.text} {run.upstream_message} {list(SentRequest.objects.values())}"
    assert KEY not in records


def test_a_title_is_asked_of_the_same_server(answer, provider, second, runtime):
    second.reply({"text": "High tide"}, stream=False)
    run = answer()
    name_session(runtime, str(run.pk))
    assert [request.headers["Authorization"] for request in second.asides] == [f"Bearer {KEY}"]
    run.turn.session.refresh_from_db()
    assert run.turn.session.title == "High tide"
    assert run.turn.session.side_requests.get().model == "large"
