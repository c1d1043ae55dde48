"""Staff disable a model, or its provider: what it answers ends at once, with words for the user."""

import pytest

from chat.models import ModelConfig, Provider
from chat.protocol.states import Status
from chat.sweeper.runs import sweep
from tests.llm_worker.outcomes import ended, wait_for_text


def disable_model() -> None:
    ModelConfig.objects.update(enabled=False)


def disable_provider() -> None:
    provider = Provider.objects.create(name="Lighthouse", base_url="https://lighthouse.example/v1")
    ModelConfig.objects.update(provider=provider, upstream_name="scripted", base_url="", api_key_env="")
    Provider.objects.update(is_enabled=False)


@pytest.mark.parametrize("disable", [disable_model, disable_provider])
def test_an_answer_under_way_ends_with_what_was_shown(deliver, ask, upstream, disable):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    disable()
    assert future.result(30) is True
    ended(run, Status.FAILED, text="Half", code="model_not_configured")
    assert upstream.requests[0].ended == "disconnected"


def test_an_answer_that_waits_ends_without_a_worker(ask, deliver, upstream):
    [run] = ask()
    disable_model()
    assert sweep(trust_locks=False).disabled == 1
    run.refresh_from_db()
    assert (run.status, run.error_code) == (Status.FAILED, "model_not_configured")
    assert run.announced_at
    assert deliver(run).result(30) is False
    assert upstream.requests == []


def test_an_answer_that_is_claimed_before_the_sweep_is_not_begun(ask, deliver, upstream):
    [run] = ask()
    disable_model()
    assert deliver(run).result(30) is True
    ended(run, Status.FAILED, text="", code="model_not_configured")
    assert upstream.requests == []
