"""With LOG_FORMAT=json each process logs one JSON object per line, with the ids of what it works on."""

import json
import logging
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from celery import Celery

from chat.infrastructure import log_context
from config.log_format import ContextFilter, TextFormatter, logging_settings
from tests.instance import ROOT

# Nothing listens there, which every process complains about.
NOWHERE = {
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "CELERY_BROKER_URL": "redis://127.0.0.1:1/0",
}
WEB_PORT_LINE = "Uvicorn running on"
PROCESSES = {
    "llm": ["-m", "celery", "-q", "-A", "config", "worker", "-P", "threads", "-c", "1", "-Q", "llm", "-l", "warning"],
    "compression": ["-m", "celery", "-q", "-A", "config.compression_app", "worker", "-P", "threads", "-c", "1", "-Q", "compression", "-l", "warning"],
    "ingest": ["-m", "celery", "-q", "-A", "config.ingest_app", "worker", "-P", "prefork", "-c", "1", "-Q", "ingest", "-l", "warning"],
    "sweeper": ["manage.py", "sweep_runs"],
    "web": ["-m", "uvicorn", "config.asgi:application", "--port", "{port}", "--log-level", "warning"],
}  # fmt: skip


@pytest.fixture
def started(request, tmp_path, unused_tcp_port) -> Iterator[tuple[subprocess.Popen[str], int]]:
    arguments = [argument.format(port=unused_tcp_port) for argument in PROCESSES[request.param]]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **NOWHERE, "DEBUG": "1", "DATA_DIR": str(tmp_path), "LOG_FORMAT": "json",
             "DJANGO_SETTINGS_MODULE": "config.settings"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    yield process, unused_tcp_port
    process.kill()
    process.wait()
    process.stderr.close()


def knock(port: int, process: subprocess.Popen[str]) -> None:
    """Ask web for its readiness, as soon as it listens: it reports what it cannot reach."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=60)
        except urllib.error.HTTPError:
            return
        except OSError:
            continue


# The sweeper of every change stands for the others: all read the same settings.
EACH_PROCESS = [
    name if name == "sweeper" else pytest.param(name, marks=pytest.mark.full) for name in sorted(PROCESSES)
]


@pytest.mark.parametrize("started", EACH_PROCESS, indirect=True)
def test_each_process_writes_json_lines(started, request):
    process, port = started
    if "web" in request.node.name:
        knock(port, process)
    record = json.loads(process.stderr.readline())
    assert {"time", "level", "logger", "message"} <= record.keys()
    assert record["level"] in ("WARNING", "ERROR")


@pytest.fixture
def record() -> logging.LogRecord:
    record = logging.LogRecord("chat.turns", logging.WARNING, "", 0, "lost %s", ("it",), None)
    with log_context.bound(run="r1", cycle=2, request_id="q1"):
        assert ContextFilter().filter(record)
    return record


@pytest.mark.pure
def test_a_text_line_ends_with_the_ids(record):
    text = TextFormatter("%(levelname)s %(name)s: %(message)s").format(record)
    assert text == "WARNING chat.turns: lost it [run=r1 cycle=2 request_id=q1]"


@pytest.mark.pure
def test_a_json_line_has_the_ids_as_members(record):
    configured = logging_settings("json", development=False)
    formatter = logging.config.DictConfigurator(configured).configure_formatter(
        dict(configured["formatters"]["console"])
    )
    line = json.loads(formatter.format(record))
    assert (line["run"], line["cycle"], line["request_id"], line["message"]) == ("r1", 2, "q1", "lost it")


@pytest.mark.pure
def test_a_json_line_has_no_attribute_that_a_library_adds(record):
    """Such as Django's request with its query, and Celery's data with the arguments of a task."""
    record.request = record.data = "canary"
    configured = logging_settings("json", development=False)
    formatter = logging.config.DictConfigurator(configured).configure_formatter(
        dict(configured["formatters"]["console"])
    )
    line = json.loads(formatter.format(record))
    assert line.keys() == {"time", "level", "logger", "message", "run", "cycle", "request_id"}


@pytest.mark.pure
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_message_that_is_a_mapping_is_one_object_in_both_formats(log_format):
    configured = logging_settings(log_format, development=False)
    formatter = logging.config.DictConfigurator(configured).configure_formatter(
        dict(configured["formatters"]["console"])
    )
    said = logging.LogRecord("x", logging.INFO, "", 0, {"event": "LLM_REQUEST", "model": "m"}, None, None)
    line = json.loads(formatter.format(said))
    assert (line["event"], line["model"]) == ("LLM_REQUEST", "m")


@pytest.mark.pure
async def test_tasks_and_threads_inherit_the_ids_and_the_end_of_the_block_takes_them_back():
    with log_context.bound(run="r1"):
        with log_context.bound(cycle=3):
            inside = log_context.in_context(lambda: dict(log_context.current()))
        assert log_context.current() == {"run": "r1"}
    assert log_context.current() == {}
    assert inside() == {"run": "r1", "cycle": 3}


@pytest.mark.pure
def test_lines_of_celery_have_the_ids_of_the_task(caplog: pytest.LogCaptureFixture) -> None:
    from config import worker_logging

    app = Celery("lines", set_as_current=False)

    @app.task(name="fails")
    def fails(**_ids: str) -> None:
        raise RuntimeError

    caplog.handler.addFilter(ids := ContextFilter())
    try:
        assert fails.apply(kwargs={"run_id": "r1"}).failed()
    finally:
        caplog.handler.removeFilter(ids)
    assert worker_logging.bind_ids
    assert [vars(record).get("run") for record in caplog.records] == ["r1"]
    assert log_context.current() == {}


@pytest.mark.pure
def test_a_message_that_is_delivered_again_beside_its_task_leaves_no_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As RabbitMQ does after a reconnect; the second delivery ends first."""
    from config import worker_logging

    app = Celery("twice", set_as_current=False)

    @app.task(name="runs")
    def runs(is_first: bool, **_ids: str) -> None:
        if is_first:
            again = threading.Thread(target=deliver, args=[False])
            again.start()
            again.join()

    def deliver(is_first: bool) -> None:
        runs.apply([is_first], {"run_id": "r1"}, task_id="t1")
        assert log_context.current() == {}

    deliver(True)
    assert worker_logging.bind_ids
    assert caplog.records == []


@pytest.mark.pure
def test_a_program_that_is_started_beside_a_task_prints_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between fork and exec it has no other threads: what they held must not end there."""
    from config import worker_logging

    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: os.write(2, repr(ignored).encode()))
    begun, ended = threading.Event(), threading.Event()
    app = Celery("programs", set_as_current=False)

    @app.task(name="waits")
    def waits(**_ids: str) -> None:
        begun.set()
        ended.wait(60)

    task = threading.Thread(target=waits.apply, kwargs={"kwargs": {"server_id": "s1"}})
    task.start()
    assert begun.wait(60)
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
    ended.set()
    task.join()
    assert worker_logging.bind_ids
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("level", "written"),
    [("info", ["chat INFO", "httpx WARNING"]), ("warning", ["httpx WARNING"]), ("error", [])],
)
def test_the_level_is_that_of_our_records_and_libraries_write_no_more(level: str, written: list[str]) -> None:
    """In a process of its own, since loggers are the process's."""
    code = (
        "import logging.config, sys; from config.log_format import logging_settings;"
        "logging.config.dictConfig(logging_settings('text', sys.argv[1], development=False));"
        "logging.getLogger('chat.turns').info('chat INFO');"
        "logging.getLogger('httpx').info('httpx INFO'); logging.getLogger('httpx').warning('httpx WARNING')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, level], cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
    )  # fmt: skip
    assert [line.partition(": ")[2] for line in done.stderr.splitlines()] == written
