"""Bad configuration is one line that names the variable, and status 78."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config import environment as env
from tests.instance import ROOT, LaunchedInstance, free_port

GOOD = {"DEBUG": "1", "DATA_DIR": "/nonexistent"}
# Reads the settings once for each environment on its input, in a child that has imported all that they import.
READER = """
import gc, importlib, json, os, sys
import config.settings
from config.own_programs import forget_settings
forget_settings()
# It has read what a start has stored in the folder of the first environment.
del sys.modules["config.environment"], config.environment
# A collection of garbage in a child, or its orderly end, would copy the memory of all that is imported.
gc.freeze()
for line in sys.stdin:
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writes, 1), os.dup2(writes, 2)
        os.environ.clear()
        asked = json.loads(line)
        os.environ.update(asked["environment"])
        try:
            settings = importlib.import_module("config.settings")
            if asked["shown"]:
                print(*(getattr(settings, name) for name in asked["shown"]))
            status = 0
        except SystemExit as ended:
            status = ended.code
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)
    os.close(writes)
    with open(reads) as output:
        printed = output.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed]), flush=True)
"""


@pytest.fixture(scope="module")
def reader() -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", READER], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, **GOOD},
    )  # fmt: skip
    yield process
    process.communicate()


@pytest.fixture
def read_settings(reader: "subprocess.Popen[str]") -> Any:
    """Called with settings that are to be shown, and variables: a process that reads them with no others; (status, what it printed)."""

    def read(*shown: str, **environment: str) -> tuple[int, str]:
        assert reader.stdin
        assert reader.stdout
        asked = {"environment": {"PATH": os.environ["PATH"], **environment}, "shown": shown}
        print(json.dumps(asked), file=reader.stdin, flush=True)
        status, printed = json.loads(reader.stdout.readline())
        return status, printed

    return read


def test_a_good_environment_says_nothing(read_settings: Any) -> None:
    assert read_settings(**GOOD) == (0, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "maybe"),
        ("PASSWORD_LOGIN", "0"),
        ("OIDC_ISSUER", "id.example.com"),
        ("OIDC_ISSUER", "https://id.example.com/.well-known/openid-configuration"),
        ("OIDC_ISSUER", "https://id.example.com/?realm=1"),
        ("OIDC_CLIENT_ID", "without an issuer"),
        ("OIDC_CLIENT_SECRET", "without an issuer"),
        ("OIDC_STAFF_GROUPS", "without an issuer"),
        ("OIDC_ADMIN_GROUPS", "without an issuer"),
        ("PORT", "eighty"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("PORT", "٨٠٨٠"),
        ("DATABASE_URL", "mysql://localhost/x"),
        ("DATABASE_URL", "not an address"),
        ("REDIS_URL", "http://localhost"),
        ("CELERY_BROKER_URL", "sqs://somewhere"),
        ("LLM_BASE_URL", "api.example.com/v1"),
        ("LLM_MODELS", "small:0"),
        ("LLM_MODELS", ":8000"),
        ("LLM_MODELS", "twice,twice:8000"),
        ("LLM_WORKERS", "0"),
        ("LLM_WORKERS", "two"),
        ("LLM_CONCURRENCY", "1e3"),
        ("MAX_LLM_CYCLES", "0"),
        ("MAX_LLM_CYCLES", "65"),
        ("MAX_RUNS_PER_USER", "x"),
        ("RUN_DEADLINE", "soon"),
        ("EMAIL_URL", "mail.example.org"),
        ("EMAIL_URL", "smtp://"),
        ("EMAIL_URL", "smtp://mail.example.org:smtp"),
        ("EMAIL_URL", "smtp://mail.example.org?tls=0"),
        ("WEB_SEARCH_URL", "search.example.com"),
        ("WEB_SEARCH_URL", "altavista"),
        ("OCR", "eng, deu"),
        ("DRAIN_GRACE", "-5"),
        ("LOG_LLM_REQUESTS", "perhaps"),
        ("KEEP_REQUESTS_HOURS", "-1"),
        ("KEEP_REQUESTS_HOURS", "a day"),
        ("TITLES", "sometimes"),
        ("DATA_DIR", "/dev/null"),
    ],
)
def test_a_bad_value_is_one_line_that_names_its_variable(read_settings: Any, name: str, value: str) -> None:
    status, output = read_settings(**{**GOOD, name: value})
    assert (status, output.startswith(f"{name}: "), len(output.splitlines())) == (78, True, 1), output


@pytest.mark.parametrize("name", env.NO_LONGER_READ)
def test_a_variable_of_the_last_release_that_is_no_longer_read_is_refused(
    read_settings: Any, name: str
) -> None:
    status, output = read_settings(**GOOD, **{name: "1"})
    assert (status, output) == (
        78,
        f"{name}: is no longer read: {env.NO_LONGER_READ[name]}. Remove the variable\n",
    )


def test_a_search_service_needs_its_key_and_has_an_address(read_settings: Any) -> None:
    status, output = read_settings(**GOOD, WEB_SEARCH_URL="brave")
    assert (status, output) == (78, "WEB_SEARCH_API_KEY: is required with WEB_SEARCH_URL=brave\n")
    assert read_settings(**GOOD, WEB_SEARCH_URL="brave", WEB_SEARCH_API_KEY="key")[0] == 0


def test_secrets_are_required_unless_debug(read_settings: Any) -> None:
    assert read_settings(DATA_DIR="/nonexistent") == (78, "SECRET_KEY: is required unless DEBUG=1\n")
    status, output = read_settings(DATA_DIR="/nonexistent", SECRET_KEY="x" * 60)
    assert (status, output) == (78, "ALLOWED_HOSTS: is required unless DEBUG=1\n")


def test_a_secret_that_could_be_guessed_is_refused_unless_debug(read_settings: Any) -> None:
    short = {"DATA_DIR": "/nonexistent", "ALLOWED_HOSTS": "example.org", "SECRET_KEY": "hunter2"}
    status, output = read_settings(**short)
    assert (status, output.startswith("SECRET_KEY: has 7 characters"), len(output.splitlines())) == (
        78,
        True,
        1,
    )
    assert "hunter2" not in output
    assert read_settings(**short, DEBUG="1") == (0, "")


@pytest.mark.parametrize(
    ("environment", "has_tls"),
    [
        ({"ALLOWED_HOSTS": "chat.example.org"}, True),
        ({"ALLOWED_HOSTS": "chat.example.org,127.0.0.1"}, True),
        ({"ALLOWED_HOSTS": "127.0.0.1,localhost,[::1]"}, False),
        ({"ALLOWED_HOSTS": "localhost", "PUBLIC_URL": "https://localhost:8443"}, True),
        ({"ALLOWED_HOSTS": "10.0.0.5", "PUBLIC_URL": "http://10.0.0.5:8000"}, False),
        ({"ALLOWED_HOSTS": "chat.example.org", "PUBLIC_URL": "https://chat.example.org"}, True),
    ],
)
def test_tls_is_expected_unless_the_instance_is_reached_without(
    read_settings: Any, environment: dict[str, str], *, has_tls: bool
) -> None:
    variables = {"DATA_DIR": "/nonexistent", "SECRET_KEY": "k" * 50, **environment}
    shown = ("SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
    assert read_settings(*shown, **variables) == (0, f"{has_tls} {has_tls} {has_tls}\n")


def test_an_address_with_a_password_is_not_echoed(read_settings: Any) -> None:
    _status, output = read_settings(**{**GOOD, "DATABASE_URL": "mysql://root:hunter2@localhost/x"})
    assert "hunter2" not in output


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        pytest.param("PORT", {"PORT": "eighty"}, marks=pytest.mark.full),
        pytest.param("LLM_MODELS", {"LLM_BASE_URL": "http://127.0.0.1:9/v1"}, marks=pytest.mark.full),
        pytest.param("LLM_BASE_URL", {"LLM_MODELS": "some-model"}, marks=pytest.mark.full),
        pytest.param("HOST", {"HOST": "nowhere.invalid"}, marks=pytest.mark.full),
        pytest.param("SECRET_KEY", {"ALLOWED_HOSTS": "example.org"}, marks=pytest.mark.full),
        ("DATABASE_URL", {"DATABASE_URL": f"postgresql://somebody:hunter2@127.0.0.1:{free_port()}/x"}),
        pytest.param(
            "REDIS_URL", {"REDIS_URL": f"redis://:hunter2@127.0.0.1:{free_port()}/0"}, marks=pytest.mark.full
        ),
    ],
)
def test_make_run_refuses_before_anything_is_started(
    tmp_path: Path, name: str, environment: dict[str, str]
) -> None:
    instance = LaunchedInstance(tmp_path, **environment)
    status, output = instance.run()
    assert (status, output.startswith(f"{name}: "), len(output.splitlines())) == (78, True, 1), output
    assert "hunter2" not in output
    assert sorted(path.name for path in instance.data.iterdir()) in (
        ["lock"],
        ["lock", "secret_key", "secrets_key"],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("one", {"one": 128_000}),
        ("one:8000, two", {"one": 8000, "two": 128_000}),
        ("llama3:8b", {"llama3:8b": 128_000}),
        ("llama3:8b:32000", {"llama3:8b": 32_000}),
    ],
)
def test_models_are_names_with_an_optional_window(
    monkeypatch: pytest.MonkeyPatch, text: str, expected: dict[str, int]
) -> None:
    monkeypatch.setenv("LLM_MODELS", text)
    assert env.models("LLM_MODELS") == expected
    assert list(env.models("LLM_MODELS")) == list(expected), "the first is the default"


def test_what_a_start_keeps_is_read_by_its_owner_alone_and_forgotten_by_the_next(tmp_path: Path) -> None:
    env.store(tmp_path, {"SECRET_KEY": "s"})
    assert (tmp_path / env.STORE_NAME).stat().st_mode & 0o777 == 0o600
    assert env.read_stored(tmp_path) == {"SECRET_KEY": "s"}
    env.delete_stored(tmp_path)
    assert env.read_stored(tmp_path) == {}


def test_a_mail_server_needs_a_sender(read_settings: Any) -> None:
    status, printed = read_settings(**GOOD, EMAIL_URL="smtp://mail.example.org")
    assert (status, printed) == (78, "DEFAULT_FROM_EMAIL: is required with EMAIL_URL\n")


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("smtp://mail.example.org", "mail.example.org 587   True False"),
        ("smtp://me%40x.org:p%3Aw@mail.example.org:2525", "mail.example.org 2525 me@x.org p:w True False"),
        ("smtps://mail.example.org/", "mail.example.org 465   False True"),
        ("smtp://localhost:25?starttls=0", "localhost 25   False False"),
    ],
)
def test_a_mail_server_is_one_address(read_settings: Any, url: str, settings: str) -> None:
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    environment = {"EMAIL_URL": url, "DEFAULT_FROM_EMAIL": "turnwire@example.org"}
    assert read_settings(*(f"EMAIL_{name}" for name in names), **GOOD, **environment) == (0, f"{settings}\n")
