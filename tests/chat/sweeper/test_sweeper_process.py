"""The loop of the sweeper process."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from chat.sweeper import process
from chat.sweeper.process import Sweeper

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kept_handlers() -> Iterator[None]:
    """No handler of a signal, and no thread that uses the database, outlasts the test."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for thread in threading.enumerate():
        if thread.name == "blobs":
            thread.join()


@pytest.mark.usefixtures("kept_handlers")
def test_what_fails_in_one_part_keeps_the_process_from_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: object) -> None:
        raise LookupError("no such row")

    monkeypatch.setattr(process, "sweep", fail)
    # The last part of a pass.
    monkeypatch.setattr(process, "delete_accounts", lambda: os.kill(os.getpid(), signal.SIGTERM))
    Sweeper().run()
    assert "sweep failed, the next sweep tries again" in caplog.text


@pytest.mark.usefixtures("kept_handlers")
def test_a_row_that_others_have_locked_keeps_a_job_from_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wait_too_long(_: object) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 10")
            cursor.execute("SELECT pg_sleep(60)")

    monkeypatch.setattr(process.SessionUpkeep, "work", wait_too_long)
    monkeypatch.setattr(process, "delete_accounts", lambda: os.kill(os.getpid(), signal.SIGTERM))
    Sweeper().run()
    assert "SessionUpkeep is busy, the next sweep tries again" in caplog.text
    assert "sweeping waits for Postgres" not in caplog.text
