"""Rows of models name only variables that hold keys of models, and only allowed addresses; the worker checks it again."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client

from chat.models import ModelConfig
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model

pytestmark = pytest.mark.django_db
SECRET = "not-for-any-model"
OTHERS = [
    "SECRET_KEY",
    "DATABASE_URL",
    "REDIS_URL",
    "PATH",
    "AWS_SECRET_ACCESS_KEY",
    "llm_key_x",
]


def model_with(**fields: Any) -> ModelConfig:
    return ModelConfig.objects.create(**{"name": "alpha", "base_url": "https://evil.example/v1", **fields})


def key_that_is_sent(config: ModelConfig) -> str:
    """What the server of this row is given; empty if no request is sent."""
    try:
        model = resolve_model(config)
    except ModelFailed:
        return ""
    return model.api_key if model else ""


@pytest.mark.parametrize("variable", OTHERS)
def test_a_worker_sends_no_variable_but_those_for_keys_of_models(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, SECRET)
    assert key_that_is_sent(model_with(api_key_env=variable)) == ""


@pytest.mark.parametrize("variable", ["LLM_API_KEY", "LLM_KEY_ALPHA"])
def test_a_worker_sends_a_key_of_a_model(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, SECRET)
    assert key_that_is_sent(model_with(api_key_env=variable)) == SECRET


def test_the_prefix_is_configured_and_no_setting_becomes_a_key_by_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LLM_KEY_PREFIX = "DATABASE_"
    monkeypatch.setenv("DATABASE_OF_MODELS", SECRET)
    monkeypatch.setenv("DATABASE_URL", SECRET)
    config = model_with(api_key_env="DATABASE_OF_MODELS")
    assert key_that_is_sent(config) == SECRET
    config.api_key_env = "DATABASE_URL"
    assert key_that_is_sent(config) == ""


@pytest.fixture
def model_editor() -> Client:
    """Staff with rights on models alone."""
    editor = get_user_model().objects.create_user("editor", is_staff=True)
    editor.user_permissions.set(Permission.objects.filter(content_type__model="modelconfig"))
    client = Client()
    client.force_login(editor)
    return client


def form_of(config: ModelConfig, **changed: Any) -> dict[str, Any]:
    fields = {
        "name": config.name,
        "base_url": config.base_url,
        "api_key_env": config.api_key_env,
        "context_window": config.context_window,
        "queue": config.queue,
    }
    return {**fields, **changed}


@pytest.mark.parametrize("variable", OTHERS)
def test_staff_with_rights_on_models_cannot_name_another_variable(
    model_editor: Client, variable: str
) -> None:
    config = model_with()
    address = f"/admin/chat/modelconfig/{config.pk}/change/"
    answer = model_editor.post(address, form_of(config, api_key_env=variable))
    config.refresh_from_db()
    assert (answer.status_code, config.api_key_env) == (200, "LLM_API_KEY")
    assert "only LLM_API_KEY and names that begin with LLM_KEY_" in answer.text
    assert model_editor.post(address, form_of(config, api_key_env="LLM_KEY_A")).status_code == 302


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("https://api.example.com/v1", True),
        ("https://api.example.com/v1/", True),
        ("https://api.example.com/v1/eu", True),
        ("", True),
        ("http://127.0.0.1:9/v1", True),  # LLM_BASE_URL
        ("http://api.example.com/v1", False),
        ("https://api.example.com:8443/v1", False),
        ("https://api.example.com/v10", False),
        ("https://api.example.com/v1/../admin", False),
        ("https://api.example.com/v1/%2e%2e/admin", False),
        ("https://api.example.com.evil.example/v1", False),
        ("https://api.example.com@evil.example/v1", False),
        ("https://evil.example/v1", False),
        ("https://[", False),
        ("https://api.example.com:x/v1", False),
    ],
)
def test_with_a_list_of_servers_rows_have_only_addresses_below_them(
    settings: Any, model_editor: Client, address: str, is_allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOWED_MODEL_SERVERS = ["https://api.example.com/v1"]
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    monkeypatch.setenv("LLM_API_KEY", SECRET)
    config = model_with(base_url="https://api.example.com/v1")
    answer = model_editor.post(
        f"/admin/chat/modelconfig/{config.pk}/change/", form_of(config, base_url=address)
    )
    assert (answer.status_code == 302) is is_allowed
    config.base_url = address
    assert key_that_is_sent(config) == (SECRET if is_allowed else "")


def test_a_start_and_the_admin_say_which_rows_cannot_be_used_and_what_to_do(model_editor: Client) -> None:
    model_with(api_key_env="ALPHA_KEY")
    model_with(name="beta", api_key_env="LLM_KEY_BETA")
    said = StringIO()
    call_command("sync_models", stderr=said)
    [line] = said.getvalue().splitlines()
    assert line.startswith("The model alpha cannot be used. The environment variable ALPHA_KEY is not used")
    assert "begin with LLM_KEY_" in line
    shown = model_editor.get("/admin/chat/modelconfig/").text
    assert shown.count("The environment variable ALPHA_KEY is not used") == 1
