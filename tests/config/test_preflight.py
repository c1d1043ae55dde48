"""What is checked before a start: DEBUG, with its public password, is not opened to others, and services that are away are one line."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import psycopg
import pytest

from config.preflight import check_broker, check_development_host, check_postgres, is_loopback
from tests.instance import LaunchedInstance, free_port

# A configuration without a web process: only the checks before the start are made.


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.7", False)],
)  # fmt: skip
def test_an_address_is_local_if_only_this_machine_reaches_it(host: str, is_local: bool) -> None:
    assert is_loopback(host) == is_local


def test_a_start_without_configuration_is_refused_on_an_address_for_others(tmp_path: Path) -> None:
    status, said = LaunchedInstance(tmp_path, HOST="0.0.0.0").run()
    assert status == 78
    assert said.startswith("HOST: 0.0.0.0 can be reached from other machines")
    assert len(said.splitlines()) == 1


def test_whoever_asks_for_debug_may_open_it(capsys: pytest.CaptureFixture[str]) -> None:
    check_development_host("0.0.0.0", is_debug_chosen=True)
    with pytest.raises(SystemExit):
        check_development_host("0.0.0.0", is_debug_chosen=False)
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture
def hanging_up() -> Iterator[int]:
    """The port of a server that hangs up on everybody."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("scheme", ["amqp", "redis"])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_broker_that_does_not_answer_is_one_line(
    capsys: pytest.CaptureFixture[str], hanging_up: int, scheme: str, is_there: bool
) -> None:
    port = hanging_up if is_there else free_port()
    with pytest.raises(SystemExit) as ended:
        check_broker(f"{scheme}://someone:secret@127.0.0.1:{port}/")
    said = capsys.readouterr().err
    assert ended.value.code == 78
    assert said.startswith("CELERY_BROKER_URL: cannot connect: ")
    assert said.count("\n") == 1
    assert "secret" not in said


def test_a_start_with_a_broker_that_is_away_ends_before_anything_has_started(tmp_path: Path) -> None:
    status, said = LaunchedInstance(tmp_path, CELERY_BROKER_URL=f"amqp://127.0.0.1:{free_port()}/").run()
    assert status == 78
    assert said.startswith("CELERY_BROKER_URL: cannot connect")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(("timeout_s", "is_refused"), [(15, True), (0, False)])
def test_a_pooler_that_refuses_startup_options_is_one_line_with_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, timeout_s: int, is_refused: bool
) -> None:
    """As PgBouncer does."""

    def connect(_url: str, *, options: str = "", **_: object) -> mock.Mock:
        if options:
            raise psycopg.OperationalError("FATAL:  unsupported startup parameter: options")
        connection = mock.MagicMock()
        connection.__enter__().info.server_version = 150_000
        return connection

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(SystemExit) if is_refused else nullcontext():
        check_postgres("postgresql://127.0.0.1/turnwire", timeout_s)
    said = capsys.readouterr().err
    assert ("set STATEMENT_TIMEOUT=0" in said, said.count("\n")) == ((True, 1) if is_refused else (False, 0))
