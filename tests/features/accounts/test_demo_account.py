"""The account with the public password is closed outside DEBUG, however it was used before."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests.instance import ROOT
from web.socket.authentication import HandshakeCredentials

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo() -> Any:
    return User.objects.create_superuser("demo", password="demo")


def log_in(path: str) -> int:
    return Client().post(path, {"username": "demo", "password": "demo"}).status_code


def token_status() -> int:
    fields = {"username": "demo", "password": "demo"}
    status: int = APIClient().post("/api/auth/token/", fields, format="json").status_code
    return status


@pytest.mark.parametrize(("development", "form", "api"), [(True, 302, 200), (False, 200, 401)])
def test_demo_logs_in_with_debug_only(
    demo: Any, settings: Any, development: bool, form: int, api: int
) -> None:
    settings.DEVELOPMENT = development
    assert (log_in("/login/"), log_in("/admin/login/"), token_status()) == (form, form, api)


@pytest.mark.parametrize(("development", "api", "page"), [(True, 200, 200), (False, 401, 302)])
def test_sessions_and_tokens_from_debug_are_refused_outside_of_it(
    demo: Any, settings: Any, development: bool, api: int, page: int
) -> None:
    settings.DEVELOPMENT = True
    browser = Client()
    browser.force_login(demo)
    _, token = AuthToken.objects.create(demo)
    robot = APIClient()
    robot.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    settings.DEVELOPMENT = development
    assert robot.get("/api/sessions/").status_code == api
    assert browser.get("/").status_code == page
    assert browser.get("/admin/").status_code == page
    # Without login, SessionAuthentication leaves the answer to the first scheme: 401.
    assert browser.get("/api/sessions/").status_code == api
    sockets = (
        HandshakeCredentials(token=token),
        HandshakeCredentials(session_key=browser.session.session_key or ""),
    )
    for credentials in sockets:
        assert (credentials.find_user() is not None) == development


def test_a_data_folder_from_debug_does_not_switch_it_on_in_production(tmp_path: Path) -> None:
    """`make run` stores DEBUG for later commands; whoever sets SECRET_KEY runs something else."""
    (tmp_path / "environment.json").write_text(json.dumps({"DEBUG": "1", "SECRET_KEY": "x" * 50}))
    code = "from config import settings; print(settings.DEVELOPMENT)"

    def started_with(**environment: str) -> str:
        kept = {"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path)}
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert started_with() == "True"
    assert started_with(SECRET_KEY="y" * 50, ALLOWED_HOSTS="chat.example.org") == "False"
    assert started_with(SECRET_KEY="y" * 50, DEBUG="1") == "True"
