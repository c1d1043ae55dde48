"""A run, from delivery to end, in a real runtime: answered, refused, stopped, failed, lost."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat import revocation
from chat.cancelling import cancel_run
from chat.models import ChatMessage, ModelConfig, Run, SessionEvent, SystemPrompt
from chat.packets import Shown, fold
from chat.protocol import Packet, decode_log_entry
from chat.states import Status
from chat.stream import read_now, run_log
from llm_worker.prepare import load_branch
from llm_worker.runtime import Runtime
from tests.upstream import Upstream

Ask = Callable[..., list[Run]]


@pytest.fixture
def deliver(runtime: Runtime) -> Any:
    """Delivers a run as a Celery thread would; the future says whether it was ours to take."""
    with ThreadPoolExecutor(20) as threads:
        yield lambda run: threads.submit(runtime.run, str(run.pk))


def shown(run: Run) -> Shown:
    """What a client saw, from the log; checks that it is contiguous and ends with the one `stop`."""
    entries = [decode_log_entry(line) for _, line in read_now(run_log(run.turn.session_id, run.pk)).lines]
    assert all(isinstance(entry, Packet) for entry in entries)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    kinds = [entry.obj.__struct_config__.tag for entry in entries]
    assert kinds[0] == "run_start"
    assert kinds.index("stop") == len(kinds) - 1 == run.last_seq - 1
    return fold(entry.obj for entry in entries)


def ended(run: Run, status: Status, *, text: str | None = None, code: str = "") -> Shown:
    """The run has ended this way, in the database as on the screen."""
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.error_code) == (status, code)
    assert run.announced_at
    seen = shown(run)
    assert (seen.text, seen.reasoning) == (run.message.text, run.message.reasoning)
    assert (seen.error.code if seen.error else "") == code
    if text is not None:
        assert run.message.text == text
    return seen


def overall_stops(run: Run) -> list[str]:
    events = SessionEvent.objects.filter(session=run.turn.session_id, kind="overall_stop").order_by("n")
    return [event.payload["stop_reason"] for event in events]


def wait_for_text(upstream: Upstream, run: Run, length: int = 1) -> None:
    def has_text() -> bool:
        lines = read_now(run_log(run.turn.session_id, run.pk)).lines
        return len(fold(decode_log_entry(line).obj for _, line in lines).text) >= length

    upstream.wait_for(has_text)


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
def test_a_failure_keeps_what_was_shown_and_has_a_name(deliver, ask, upstream, steps, code, text, retryable):
    upstream.reply(*steps)
    [run] = ask()
    assert deliver(run).result() is True
    seen = ended(run, Status.FAILED, code=code, text=text)
    assert (seen.stop_reason, seen.error.retryable, run.error_retryable) == ("error", retryable, retryable)
    assert overall_stops(run) == ["error"]


def test_a_question_longer_than_the_window_is_refused_without_a_request(deliver, ask, upstream):
    ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=1000, max_output_tokens=500
    )
    [run] = ask("word " * 1000, "small")
    deliver(run).result()
    ended(run, Status.FAILED, code="context_too_long", text="")
    assert not upstream.requests
    assert run.turn.user_message.text


def test_a_model_that_is_gone_is_named(deliver, ask, upstream):
    [run] = ask()
    ModelConfig.objects.all().delete()
    deliver(run).result()
    ended(run, Status.FAILED, code="model_not_configured")
    assert not upstream.requests


def test_a_run_past_its_deadline_fails_with_what_it_has(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask(deadline=timezone.now() + timedelta(seconds=2))
    deliver(run).result()
    ended(run, Status.FAILED, code="deadline_exceeded", text="Half")
    upstream.wait_for(lambda: upstream.requests[0].ended == "disconnected")


def test_a_defect_of_our_own_fails_the_run_and_no_other(runtime, deliver, ask, upstream):
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


# Stops


def stopped(upstream: Upstream, future: Future[bool], run: Run) -> Shown:
    assert future.result(60) is True
    seen = ended(run, Status.STOPPED)
    assert seen.stop_reason == "user_cancelled"
    upstream.wait_for(lambda: all(request.ended for request in upstream.requests))
    return seen


def test_stopped_before_the_claim(deliver, ask, upstream):
    [run] = ask()
    cancel_run(run.pk)
    assert deliver(run).result() is False
    run.refresh_from_db()
    assert (run.status, len(upstream.requests)) == (Status.STOPPED, 0)


def test_stopped_between_claim_and_first_call(deliver, ask, upstream):
    [run] = ask()
    revocation.revoke(run.turn.session_id, run.pk)
    stopped(upstream, deliver(run), run)
    assert not upstream.requests


def test_stopped_before_the_first_token_while_the_upstream_is_silent(deliver, ask, upstream):
    upstream.reply({"hang": True})
    [run] = ask()
    future = deliver(run)
    upstream.wait_for_requests()
    cancel_run(run.pk)
    assert stopped(upstream, future, run).text == ""
    assert upstream.requests[0].ended == "disconnected"


def test_stopped_while_the_upstream_has_not_even_answered(deliver, ask, upstream):
    upstream.reply({"silent": True})
    [run] = ask()
    future = deliver(run)
    upstream.wait_for_requests()
    cancel_run(run.pk)
    stopped(upstream, future, run)
    assert upstream.requests[0].ended == "disconnected"


def test_stopped_while_a_token_comes_every_five_milliseconds(deliver, ask, upstream):
    upstream.reply({"words": 100_000, "every_s": 0.005})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run, 20)
    cancel_run(run.pk)
    assert stopped(upstream, future, run).text.startswith("0 1 2 3 ")
    assert upstream.requests[0].ended == "disconnected"


def test_a_stop_that_no_message_carried_is_found_by_the_beat(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).move(Status.STOPPING)
    assert stopped(upstream, future, run).text == "Half"


def test_a_stop_during_the_last_words_is_still_a_stop(deliver, ask, upstream):
    upstream.reply({"text": "All of it."}, {"wait": "the stop"})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).move(Status.STOPPING)
    upstream.release("the stop")
    assert stopped(upstream, future, run).text == "All of it."


def test_ten_clicks_on_stop_are_one(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    with ThreadPoolExecutor(10) as clicks:
        list(clicks.map(cancel_run, [run.pk] * 10))
    stopped(upstream, future, run)
    assert overall_stops(run) == ["user_cancelled"]


def test_a_stop_of_one_run_leaves_the_other_alone(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"wait": "the other"})
    runs = ask("Hello?", "alpha", "beta")
    futures = [deliver(run) for run in runs]
    for run in runs:
        wait_for_text(upstream, run)
    cancel_run(runs[0].pk)
    stopped_text = futures[0].result(60)
    upstream.release("the other")
    assert stopped_text is True
    assert futures[1].result(60) is True
    ended(runs[0], Status.STOPPED, text="Half")
    ended(runs[1], Status.COMPLETED, text="Half")


def test_a_stop_after_the_end_changes_nothing(deliver, ask, upstream):
    [run] = ask()
    deliver(run).result()
    assert cancel_run(run.pk).had_ended
    ended(run, Status.COMPLETED)


# Losing a run


def test_a_run_that_somebody_else_took_is_let_go(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).update(attempt=2, owner=7)
    assert future.result(60) is True
    upstream.wait_for(lambda: upstream.requests[0].ended == "disconnected")
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.owner, run.message.text) == (Status.RUNNING, 7, "")


def test_the_beat_extends_the_lease(deliver, ask, upstream):
    upstream.reply({"wait": "the beat"}, {"text": "Done."})
    [run] = ask()
    future = deliver(run)
    upstream.wait_for_requests()
    claimed = Run.objects.get(pk=run.pk)

    def extended() -> bool:
        now = Run.objects.get(pk=run.pk)
        return now.lease_until > claimed.lease_until and now.beat_at > claimed.beat_at

    upstream.wait_for(extended)
    upstream.release("the beat")
    assert future.result(60) is True
    ended(run, Status.COMPLETED)


def test_the_branch_is_the_one_the_tree_says(ask):
    [first] = ask("One")
    [second] = ask("Two", session=first.turn.session)
    ask("Elsewhere", session=first.turn.session)
    tree = ChatMessage.objects.branch_to(second.turn.user_message).replies()
    loaded = load_branch(second)
    assert [entry.id for entry in loaded] == [str(message.pk) for message in tree]
    assert [(entry.role, entry.text) for entry in loaded] == [
        ("user", "One"),
        ("assistant", ""),
        ("user", "Two"),
    ]
    assert [entry.sent_at for entry in loaded] == [message.sent_at for message in tree]
