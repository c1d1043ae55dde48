"""A worker that shuts down lets its runs finish for a grace period, then releases them."""

from concurrent.futures import ThreadPoolExecutor

from chat.models import Run
from chat.protocol.states import Status
from llm_worker.attempt.runtime import Runtime
from tests.llm_worker.outcomes import ended, wait_for_text


def test_runs_that_exceed_the_grace_period_are_requeued_with_their_text(runtime, deliver, ask, upstream):
    upstream.reply({"text": "Half, "}, {"hang": True}, times=2)
    upstream.reply({"text": "anew."})
    runs = ask("Hello?", "alpha", "beta")
    futures = [deliver(run) for run in runs]
    for run in runs:
        wait_for_text(upstream, run)
    runtime.drain(0)
    assert [future.result(60) for future in futures] == [True, True]
    for run in runs:
        run.refresh_from_db()
        run.message.refresh_from_db()
        assert (run.status, run.owner, run.failures, run.attempt) == (Status.QUEUED, None, 0, 1)
        assert run.message.text == "Half, "
    another_worker_does(runs)
    for run in runs:
        ended(run, Status.COMPLETED, text="anew.")
        assert (run.attempt, run.failures) == (2, 0)


def test_a_run_finishes_within_the_grace_period(runtime, deliver, ask, upstream):
    upstream.reply({"text": "Half, "}, {"wait": "the drain"}, {"text": "whole."})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    runtime.drain(600)
    upstream.release("the drain")
    assert future.result(60) is True
    ended(run, Status.COMPLETED, text="Half, whole.")


def test_a_draining_worker_claims_no_run(runtime, deliver, ask):
    runtime.drain(600)
    [run] = ask()
    assert deliver(run).result(60) is False
    assert Run.objects.get(pk=run.pk).status == Status.QUEUED


def test_a_second_drain_request_shortens_the_grace_period(runtime, deliver, ask, upstream):
    upstream.reply({"text": "Half, "}, {"hang": True})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    for grace_s in (600, 0, 0):
        runtime.drain(grace_s)
    assert future.result(60) is True
    assert Run.objects.get(pk=run.pk).status == Status.QUEUED


def another_worker_does(runs: list[Run]) -> None:
    other = Runtime()
    other.start()
    with ThreadPoolExecutor(len(runs)) as threads:
        assert all(threads.map(lambda run: other.run(str(run.pk)), runs))
    other.stop()
