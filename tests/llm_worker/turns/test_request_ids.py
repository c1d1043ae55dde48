"""The id of a request follows its turn through the worker: into its log records and to the model server."""

import logging

from chat.models import Turn
from chat.protocol.states import Status
from config.log_format import ContextFilter
from llm_worker.upstream.llm import LanguageModels
from tests.features.titles.titling import name_session
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended, wait_for_text


def asked(ask, request_id: str):
    [run] = ask()
    Turn.objects.filter(pk=run.turn_id).update(request_id=request_id)
    return run


def test_the_model_server_receives_the_id_of_the_request(deliver, ask, upstream):
    run = asked(ask, "from-the-browser")
    deliver(run).result()
    ended(run, Status.COMPLETED)
    assert upstream.requests[0].headers["X-Request-ID"] == "from-the-browser"


def test_runs_side_by_side_keep_their_own_ids(deliver, ask, upstream):
    upstream.reply({"pause_s": 0.2}, {"text": "Done."})
    runs = [asked(ask, f"request-{number}") for number in range(5)]
    for future in [deliver(run) for run in runs]:
        future.result()
    received = sorted(request.headers["X-Request-ID"] for request in upstream.requests)
    assert received == [f"request-{number}" for number in range(5)]


def test_a_worker_that_takes_the_run_over_sends_the_same_id(deliver, ask, upstream, runtime):
    upstream.reply({"text": "Half"}, {"hang": True}, times=1)
    run = asked(ask, "from-the-browser")
    future = deliver(run)
    wait_for_text(upstream, run)
    runtime.drain(0)
    assert future.result(60)
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Status.COMPLETED, 2)
    assert [request.headers.get("X-Request-ID") for request in upstream.requests] == ["from-the-browser"] * 2


def test_log_records_of_the_loop_and_of_database_threads_carry_the_ids(
    deliver, ask, upstream, caplog, monkeypatch
):
    upstream.reply({"status": 400})
    run = asked(ask, "from-the-browser")

    def commit_end(*_arguments: object) -> bool:
        logging.getLogger("tests").warning("in a thread")
        return real(*_arguments)

    from chat.runs import completion

    real = completion.commit_end
    monkeypatch.setattr(completion, "commit_end", commit_end)
    caplog.handler.addFilter(ContextFilter())
    with caplog.at_level(logging.WARNING):
        deliver(run).result()
    records = [record for record in caplog.records if record.name in ("tests", "llm_worker.attempt.attempt")]
    ids = [(record.run, record.attempt, record.model, record.request_id) for record in records]
    assert ids == [(str(run.pk), 1, "scripted", "from-the-browser")] * 2


async def test_without_a_request_no_header_is_sent(upstream):
    from tests.llm_worker.upstream.test_llm import answer, request

    models = LanguageModels(connections=1, silence_s=30)
    await answer(models, request(upstream))
    await models.close()
    assert "X-Request-ID" not in upstream.requests[0].headers


def test_the_title_of_a_session_is_asked_for_under_the_same_id(deliver, ask, upstream, runtime):
    run = asked(ask, "from-the-browser")
    upstream.reply({"text": "Tides"}, stream=False)
    deliver(run).result()
    name_session(runtime, str(run.pk))
    assert upstream.asides[0].headers["X-Request-ID"] == "from-the-browser"
