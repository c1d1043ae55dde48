"""A run is stopped at any moment, or loses its lease."""

from concurrent.futures import ThreadPoolExecutor

from chat.infrastructure import revocation
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import ENDED_TTL_S, run_log
from chat.models import Run
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from tests.llm_worker.outcomes import ended, overall_stops, stopped, wait_for_text


def test_a_stop_before_the_claim(deliver, ask, upstream):
    [run] = ask()
    stop_run(run.pk)
    assert deliver(run).result() is False
    run.refresh_from_db()
    assert (run.status, len(upstream.requests)) == (Status.STOPPED, 0)
    log = run_log(run.turn.session_id, run.pk)
    assert sync_redis().ttl(log.entries) <= ENDED_TTL_S, "nobody else shortens it"


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
    stop_run(run.pk)
    assert stopped(upstream, future, run).text == ""
    assert upstream.requests[0].ended == "disconnected"


def test_stopped_while_the_upstream_has_not_even_answered(deliver, ask, upstream):
    upstream.reply({"silent": True})
    [run] = ask()
    future = deliver(run)
    upstream.wait_for_requests()
    stop_run(run.pk)
    stopped(upstream, future, run)
    assert upstream.requests[0].ended == "disconnected"


def test_stopped_while_a_token_comes_every_five_milliseconds(deliver, ask, upstream):
    upstream.reply({"words": 100_000, "every_s": 0.005})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run, 20)
    stop_run(run.pk)
    assert stopped(upstream, future, run).text.startswith("0 1 2 3 ")
    assert upstream.requests[0].ended == "disconnected"


def test_a_stop_whose_message_was_lost_is_found_by_the_heartbeat(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).move(Status.STOPPING)
    assert stopped(upstream, future, run).text == "Half"


def test_a_stop_during_the_last_delta_still_stops_the_run(deliver, ask, upstream):
    upstream.reply({"text": "All of it."}, {"wait": "the stop"})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).move(Status.STOPPING)
    upstream.release("the stop")
    assert stopped(upstream, future, run).text == "All of it."


def test_ten_stop_requests_count_as_one(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    with ThreadPoolExecutor(10) as clicks:
        list(clicks.map(stop_run, [run.pk] * 10))
    stopped(upstream, future, run)
    assert overall_stops(run) == ["user_cancelled"]


def test_a_stop_of_one_run_does_not_affect_the_other(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"wait": "the other"})
    runs = ask("Hello?", "alpha", "beta")
    futures = [deliver(run) for run in runs]
    for run in runs:
        wait_for_text(upstream, run)
    stop_run(runs[0].pk)
    stopped_text = futures[0].result(60)
    upstream.release("the other")
    assert stopped_text is True
    assert futures[1].result(60) is True
    ended(runs[0], Status.STOPPED, text="Half")
    ended(runs[1], Status.COMPLETED, text="Half")


def test_a_stop_after_the_end_changes_nothing(deliver, ask, upstream):
    [run] = ask()
    deliver(run).result()
    assert stop_run(run.pk).had_ended
    ended(run, Status.COMPLETED)


# Losing a run


def test_a_run_that_another_worker_owns_is_cancelled(deliver, ask, upstream):
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


def test_the_heartbeat_extends_the_lease(deliver, ask, upstream):
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
