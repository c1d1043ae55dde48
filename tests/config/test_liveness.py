"""`turnwire alive` tells a process that lives from one that does not, and fails nobody because Redis is away."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from django.test import override_settings

from chat.infrastructure.redis_client import sync_redis
from chat.metrics.presence import Announcement, Role, Work
from config import alive_command
from tests.instance import ROOT, free_port
from tests.services import Services


@pytest.fixture
def announced() -> Iterator[None]:
    announcement = Announcement("sweeper", Work)
    with sync_redis().pipeline() as pipe:
        announcement.write(pipe)
        pipe.execute()
    yield
    announcement.withdraw()


def alive(kind: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "turnwire.py"), "alive", kind], env=os.environ | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.usefixtures("announced")
def test_a_worker_lives_if_it_has_said_so(services: Services) -> None:
    assert alive("sweeper", **services.environment()) == (0, "")
    status, said = alive("ingest", **services.environment())
    assert (status, "ingest: no process on" in said) == (1, True)


def test_nobody_is_restarted_because_redis_is_away() -> None:
    assert alive("llm", REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") == (0, "")


@pytest.mark.pure
@pytest.mark.parametrize(
    ("role", "host", "lives"), [("llm", socket.gethostname(), True), ("llm", "other", False)]
)
def test_a_process_of_another_host_does_not_count(role: Role, host: str, lives: bool) -> None:
    assert (alive_command.find_problem("llm", [(role, host)]) == "") == lives


class Alive(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health/live" else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "ok"}).encode())

    def log_message(self, *_: object) -> None:
        pass


def test_web_lives_if_it_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with HTTPServer(("127.0.0.1", 0), Alive) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with override_settings(HOST="0.0.0.0", PORT=server.server_port):
            assert alive_command.main("web") == 0
        server.shutdown()
    with override_settings(HOST="127.0.0.1", PORT=free_port()):
        assert alive_command.main("web") == 1
    assert "web: does not answer" in capsys.readouterr().err
