"""The settings of Celery, and unknown keys of a message, which are ignored."""

from chat.protocol.states import Status
from config.celery import app


def test_the_celery_settings_give_at_least_once_delivery():
    conf = app.conf
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.worker_disable_prefetch
    assert conf.worker_prefetch_multiplier == 1
    assert conf.result_backend is None
    assert conf.accept_content == ["json"]
    assert conf.broker_transport_options["visibility_timeout"] >= 1800


def test_unknown_arguments_of_a_task_are_ignored(transactional_db, ask):
    from llm_worker.attempt import runtime
    from llm_worker.tasks import run_turn

    [run] = ask()
    try:
        run_turn(run_id=str(run.pk), priority="from a later release")
    finally:
        runtime.stop_current()
    run.refresh_from_db()
    assert run.status == Status.COMPLETED
