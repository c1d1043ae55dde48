"""A run from delivery to end in a real runtime: answered, delivered repeatedly, failed. Stops: test_stops.py."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import ENDED_TTL_S, run_log
from chat.models import ChatMessage, ModelConfig, Run, SystemPrompt
from chat.protocol.states import Status
from llm_worker.loading.branch import load_branch
from tests.llm_worker.outcomes import ended, overall_stops

# Answers


def test_an_answer_is_streamed_stored_counted_and_announced(deliver, ask, upstream):
    upstream.reply({"reasoning": "Two bulges."}, {"text": "The Moon "}, {"text": "pulls. 🌊"},
                   {"usage": {"prompt_tokens": 40, "completion_tokens": 12,
                              "prompt_tokens_details": {"cached_tokens": 32},
                              "completion_tokens_details": {"reasoning_tokens": 5}}})  # fmt: skip
    [run] = ask("Why two tides?")
    assert deliver(run).result() is True
    seen = ended(run, Status.COMPLETED, text="The Moon pulls. 🌊")
    assert (seen.reasoning, seen.stop_reason) == ("Two bulges.", "finished")
    used = (run.prompt_tokens, run.completion_tokens, run.cached_tokens, run.reasoning_tokens, run.cycles)
    assert used == (40, 12, 32, 5, 1)
    assert 0 < run.time_to_first_token_ms < 60_000
    assert run.message.token_count > 0
    assert overall_stops(run) == ["finished"]


def test_the_log_of_a_run_that_has_ended_is_freed_in_minutes(deliver, ask, upstream):
    upstream.reply({"text": "The Moon."})
    [run] = ask("Why?")
    deliver(run).result()
    log = run_log(run.turn.session_id, run.pk)
    assert all(500 < sync_redis().ttl(key) <= ENDED_TTL_S for key in (log.meta, log.entries))


def test_the_next_turn_sees_the_branch_with_its_dates(deliver, ask, upstream):
    SystemPrompt.edit("Be brief. {{CURRENT_DATE}}")
    upstream.reply({"text": "First answer"}, times=1)
    [first] = ask("First question")
    deliver(first).result()
    [second] = ask("Second question", session=first.turn.session, dynamic_context="Known: the tides.")
    second.turn.session.refresh_from_db()
    deliver(second).result()
    roles_and_texts = [(m["role"], m["content"].partition("\n")[0]) for m in upstream.requests[1].messages]
    assert roles_and_texts == [
        ("system", f"Be brief. {first.turn.session.created_at:%Y-%m-%d}"),
        ("user", "First question"),
        ("assistant", "First answer"),
        ("user", "Known: the tides."),
        ("user", "Second question"),
    ]
    assert upstream.requests[1].messages[1] == upstream.requests[0].messages[1]
    assert upstream.requests[1].messages[-1]["content"].endswith(" UTC</sent_at>")


def test_one_of_two_models_fails_and_the_other_finishes(deliver, ask, upstream):
    upstream.reply({"status": 401}, model="beta")
    upstream.reply({"text": "Fine."}, model="alpha")
    runs = ask("Hello?", "alpha", "beta")
    assert all(future.result() for future in [deliver(run) for run in runs])
    ended(runs[0], Status.COMPLETED, text="Fine.")
    ended(runs[1], Status.FAILED, code="upstream_auth", text="")
    assert overall_stops(runs[0]) == ["finished"]


# Deliveries


def test_of_five_deliveries_at_once_one_executes(deliver, ask, upstream):
    [run] = ask()
    taken = [future.result() for future in [deliver(run) for _ in range(5)]]
    assert sorted(taken) == [False, False, False, False, True]
    ended(run, Status.COMPLETED)
    assert len(upstream.requests) == 1


def test_a_delivery_after_the_end_or_of_no_run_changes_nothing(deliver, ask, upstream):
    [run] = ask()
    deliver(run).result()
    before = Run.objects.values().get(pk=run.pk)
    assert deliver(run).result() is False
    assert Run.objects.values().get(pk=run.pk) == before
    assert len(upstream.requests) == 1
    assert deliver(Run()).result() is False


# Failures


@pytest.mark.parametrize(
    ("steps", "code", "text", "retryable"),
    [
        pytest.param([{"status": 400}], "upstream_rejected", "", False, id="rejected"),
        pytest.param([{"status": 429, "retry_after": 0.01}], "upstream_rate_limited", "", True, id="429"),
        pytest.param([{"status": 500}], "upstream_unavailable", "", True, id="500"),
        pytest.param([{"text": "Half"}, {"eof": "close"}], "upstream_interrupted", "Half", True, id="EOF"),
        pytest.param([{"text": "Half"}, {"raw": "data: {\n\n"}], "upstream_malformed", "Half", True, id="malformed"),
        pytest.param([{"long_line": 10 * 1024 * 1024}], "upstream_malformed", "", True, id="10 MB of one line"),
        pytest.param([], "empty_response", "", True, id="empty"),
        pytest.param([{"reasoning": "Hm."}], "empty_response", "", True, id="only reasoning"),
        pytest.param([{"finish": "content_filter"}], "model_refusal", "", False, id="filtered"),
        pytest.param([{"refusal": "I would rather not."}], "model_refusal", "I would rather not.", False, id="refusal"),
    ],
)  # fmt: skip
def test_a_failed_run_keeps_its_text_and_has_an_error_code(
    deliver, ask, upstream, steps, code, text, retryable
):
    upstream.reply(*steps)
    [run] = ask()
    assert deliver(run).result() is True
    seen = ended(run, Status.FAILED, code=code, text=text)
    assert (seen.stop_reason, seen.error.retryable, run.error_retryable) == ("error", retryable, retryable)
    assert overall_stops(run) == ["error"]


def test_a_question_longer_than_the_window_fails_without_a_request(deliver, ask, upstream):
    ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=1000, max_output_tokens=500
    )
    [run] = ask("word " * 1000, "small")
    deliver(run).result()
    ended(run, Status.FAILED, code="context_too_long", text="")
    assert not upstream.requests
    assert run.turn.user_message.text


def test_a_deleted_model_fails_the_run_with_its_code(deliver, ask, upstream):
    [run] = ask()
    ModelConfig.objects.all().delete()
    deliver(run).result()
    ended(run, Status.FAILED, code="model_not_configured")
    assert not upstream.requests


def test_a_run_past_its_deadline_fails_and_keeps_its_text(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask(deadline=timezone.now() + timedelta(seconds=2))
    deliver(run).result()
    ended(run, Status.FAILED, code="deadline_exceeded", text="Half")
    upstream.wait_for(lambda: upstream.requests[0].ended == "disconnected")


def test_an_internal_error_fails_only_its_run(runtime, deliver, ask, upstream):
    class Broken:
        def stream(self, request: object) -> None:
            raise ZeroDivisionError

    sound = runtime._services
    [broken], [fine] = ask(), ask()
    runtime._services = replace(sound, models=Broken())
    deliver(broken).result()
    runtime._services = sound
    deliver(fine).result()
    ended(broken, Status.FAILED, code="internal_error", text="")
    ended(fine, Status.COMPLETED)


def test_the_branch_follows_the_tree(ask):
    [first] = ask("One")
    [second] = ask("Two", session=first.turn.session)
    ask("Elsewhere", session=first.turn.session)
    tree = ChatMessage.objects.branch_to(second.turn.user_message).replies()
    loaded = load_branch(second.turn.user_message_id).entries
    assert [entry.id for entry in loaded] == [str(message.pk) for message in tree]
    assert [(entry.role, entry.text) for entry in loaded] == [
        ("user", "One"),
        ("assistant", ""),
        ("user", "Two"),
    ]
    assert [entry.sent_at for entry in loaded] == [message.sent_at for message in tree]
