"""Providers of models: for staff with the permission alone, with keys that nobody reads and that go nowhere else."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from rest_framework.test import APIClient

from chat.models import ModelConfig, Provider, Run
from features.providers import providers as provider_checks
from tests import factories
from tests.secrets_keys import SECOND

pytestmark = pytest.mark.django_db

PROVIDERS = "/api/providers/"
KEY = "sk-key-of-the-cloud-987654"
CLOUD = {"name": "Cloud", "base_url": "https://api.example.com/v1"}


@pytest.fixture
def root(transactional_db: None) -> APIClient:
    return factories.api_client(factories.create_user("root", is_staff=True, is_superuser=True))


def added(root: APIClient, **fields: Any) -> str:
    made = root.post(PROVIDERS, {**CLOUD, "api_key": KEY, **fields}, format="json")
    assert made.status_code == 201, made.json()
    return str(made.json()["id"])


def change(root: APIClient, provider: str, **fields: Any) -> Any:
    return root.patch(f"{PROVIDERS}{provider}/", fields, format="json")


def offer(root: APIClient, provider: str, *models: str, **fields: Any) -> Any:
    given = [{"upstream_name": model, "enabled": True, **fields} for model in models]
    return root.post(f"{PROVIDERS}{provider}/models/", {"models": given}, format="json")


def offered(client: APIClient) -> list[str]:
    return [model["name"] for model in client.get("/api/models/").json()]


class TestPermissions:
    @pytest.mark.parametrize(
        ("fields", "permissions", "statuses"),
        [
            ({}, ["view_provider", "add_provider", "change_provider", "delete_provider"], [403] * 6),
            ({"is_staff": True}, [], [403] * 6),
            ({"is_staff": True}, ["change_modelconfig", "change_agent"], [403] * 6),
            ({"is_staff": True}, ["view_provider"], [200, 403, 403, 403, 403, 403]),
            ({"is_staff": True}, ["add_provider"], [403, 201, 403, 403, 403, 403]),
            ({"is_staff": True}, ["change_provider"], [200, 403, 200, 200, 202, 403]),
            ({"is_staff": True}, ["delete_provider"], [403, 403, 403, 403, 403, 204]),
        ],
    )
    def test_each_operation_needs_the_permission_of_the_admin(
        self, root: APIClient, fields: Any, permissions: list[str], statuses: list[int]
    ) -> None:
        provider = added(root)
        person = factories.create_user("carol", **fields)
        person.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
        client = factories.api_client(person)
        answers = [
            client.get(PROVIDERS),
            client.post(PROVIDERS, {**CLOUD, "name": "another"}, format="json"),
            change(client, provider, is_enabled=False),
            offer(client, provider, "large"),
            client.post(f"{PROVIDERS}{provider}/check/", {}, format="json"),
            client.delete(f"{PROVIDERS}{provider}/"),
        ]
        assert [answer.status_code for answer in answers] == statuses

    def test_without_login_they_are_closed(self) -> None:
        assert APIClient().get(PROVIDERS).status_code == 401

    def test_the_entry_of_the_page_is_there_for_those_who_may_see_them(self, root: APIClient) -> None:
        for name, fields in (("mallory", {}), ("warden", {"is_staff": True, "is_superuser": True})):
            client = Client()
            client.force_login(factories.create_user(name, **fields))
            assert ("data-providers" in client.get("/").content.decode()) == bool(fields)


class TestKeys:
    def test_a_key_is_in_no_answer_and_not_as_it_is_in_the_database(self, root: APIClient) -> None:
        made = root.post(PROVIDERS, {**CLOUD, "api_key": KEY}, format="json")
        provider = made.json()["id"]
        answers = [
            made,
            root.get(PROVIDERS),
            root.get(f"{PROVIDERS}{provider}/"),
            change(root, provider, name="Sky"),
            change(root, provider, api_key=f"{KEY}2"),
            root.post(f"{PROVIDERS}{provider}/check/", {}, format="json"),
        ]
        for answer in answers:
            assert KEY[-6:] not in answer.content.decode()
            assert "gAAAA" not in answer.content.decode()
        assert root.get(f"{PROVIDERS}{provider}/").json()["has_key"] is True
        assert KEY not in repr(Provider.objects.values().get())
        assert Provider.objects.get().api_key == f"{KEY}2"

    def test_a_refused_key_is_not_quoted(self, root: APIClient) -> None:
        refused = root.post(PROVIDERS, {**CLOUD, "api_key": f"{KEY}\r\nX-Evil: 1"}, format="json")
        assert (refused.status_code, refused.json()["field"]) == (400, "api_key")
        assert KEY not in refused.content.decode()

    def test_without_keys_to_encrypt_with_nothing_is_stored_and_what_to_set_is_said(
        self, root: APIClient, settings: Any
    ) -> None:
        settings.SECRETS_KEYS = []
        refused = root.post(PROVIDERS, {**CLOUD, "api_key": KEY}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (409, "encryption_unavailable")
        assert "set SECRETS_KEYS" in refused.json()["message"]
        assert not Provider.objects.exists()
        assert root.get(PROVIDERS).json()["can_store_keys"] is False
        # A server that needs no key is added all the same.
        added(root, api_key="")

    @pytest.mark.parametrize(
        ("address", "status"),
        [
            ("https://evil.example/v1", 400),
            ("http://api.example.com/v1", 400),
            ("https://api.example.com:444/v1", 400),
            ("https://api.example.com/v2", 200),
            ("https://API.example.com:443/v1", 200),
        ],
    )
    def test_a_stored_key_goes_to_no_other_server(self, root: APIClient, address: str, status: int) -> None:
        provider = added(root)
        answer = change(root, provider, base_url=address)
        assert answer.status_code == status
        if status == 400:
            assert answer.json()["code"] == "provider_key_required"
            assert Provider.objects.get().base_url == CLOUD["base_url"]
            assert change(root, provider, base_url=address, api_key="another").status_code == 200

    def test_without_a_key_the_address_changes_freely(self, root: APIClient) -> None:
        provider = added(root)
        assert change(root, provider, api_key="").json()["has_key"] is False
        assert change(root, provider, base_url="http://127.0.0.1:11434/v1").status_code == 200

    def test_a_key_that_cannot_be_decrypted_any_more_is_replaced(
        self, root: APIClient, settings: Any
    ) -> None:
        provider = added(root)
        settings.SECRETS_KEYS = [SECOND]
        assert change(root, provider, api_key="new-key-2").status_code == 200
        assert Provider.objects.get().api_key == "new-key-2"


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "ftp://api.example.com", "api.example.com/v1", "http://", "http://user:secret@api.example.com/v1",
            "http://169.254.169.254/latest", "http://[fe80::1]/v1", "http://[::ffff:169.254.169.254]/",
            "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://a b/", "http://a:99999/", "http://a/?key=1",
            "http://a/v1#x", "http://a\\@b/v1", "http://a/%2e%2e/v1",
        ],
    )  # fmt: skip
    def test_what_is_no_address_of_a_model_server_is_refused(self, root: APIClient, address: str) -> None:
        refused = root.post(PROVIDERS, {**CLOUD, "base_url": address}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (400, "provider_address_invalid")
        assert not Provider.objects.exists()

    @pytest.mark.parametrize(
        "address", ["http://ollama:11434/v1", "http://10.0.0.7:8000/v1", "http://[::1]:8000/v1"]
    )
    def test_servers_of_the_own_network_are_allowed(self, root: APIClient, address: str) -> None:
        added(root, base_url=address)

    def test_where_servers_are_listed_others_are_refused(self, root: APIClient, settings: Any) -> None:
        settings.ALLOWED_MODEL_SERVERS = ["https://api.example.com/v1"]
        added(root)
        refused = root.post(PROVIDERS, {"name": "x", "base_url": "https://evil.example/v1"}, format="json")
        assert "ALLOWED_MODEL_SERVERS" in refused.json()["message"]

    def test_two_providers_have_two_names(self, root: APIClient) -> None:
        provider = added(root)
        again = root.post(PROVIDERS, CLOUD, format="json")
        assert (again.status_code, again.json()["code"]) == (409, "provider_name_taken")
        root.delete(f"{PROVIDERS}{provider}/")
        added(root)


class TestModels:
    def test_models_that_are_enabled_are_offered_to_everybody_at_once(self, root: APIClient) -> None:
        alice = factories.api_client(factories.create_user("alice"))
        provider = added(root)
        assert offered(alice) == []
        answer = offer(
            root, provider, "large", context_window=32_000, prompt_price="2.5", completion_price="10"
        )
        (model,) = answer.json()["models"]
        assert (model["name"], model["prompt_price"], model["is_default"]) == ("large", "2.5", True)
        assert offered(alice) == ["large"]
        offer(root, provider, "large", enabled=False)
        assert offered(alice) == []

    def test_a_name_that_another_model_has_is_told_apart(self, root: APIClient) -> None:
        factories.create_model("large", is_default=True)
        provider = added(root)
        offer(root, provider, "large")
        assert offered(root) == ["large", "large (Cloud)"]
        renamed = offer(root, provider, "large", name="huge")
        assert [model["name"] for model in renamed.json()["models"]] == ["huge"]
        taken = root.post(
            f"{PROVIDERS}{provider}/models/",
            {"models": [{"upstream_name": "small"}, {"upstream_name": "large", "name": "large"}]},
            format="json",
        )
        assert (taken.status_code, taken.json()["code"]) == (409, "model_name_taken")
        assert offered(root) == ["large", "huge"]

    def test_the_demo_is_offered_while_no_other_model_is(self, root: APIClient, settings: Any) -> None:
        settings.LLM_MODELS = {"demo": 8000}
        factories.create_model("demo", is_demo=True, is_default=True)
        factories.create_model("an older demo", is_demo=True, enabled=False)
        provider = added(root)
        assert offered(root) == ["demo"]
        offer(root, provider, "large")
        assert offered(root) == ["large"]
        assert ModelConfig.objects.get(is_default=True).name == "large"
        ModelConfig.objects.configure({"demo": 8000}, demo=True)
        assert offered(root) == ["large"]
        change(root, provider, is_enabled=False)
        assert offered(root) == ["demo"]
        change(root, provider, is_enabled=True)
        assert offered(root) == ["large"]
        root.delete(f"{PROVIDERS}{provider}/")
        assert offered(root) == ["demo"]
        assert ModelConfig.objects.get(is_default=True).name == "demo"

    def test_a_demo_that_does_not_run_is_not_offered(self, root: APIClient, settings: Any) -> None:
        settings.LLM_MODELS = {}
        factories.create_model("demo", is_demo=True, enabled=False)
        provider = added(root)
        offer(root, provider, "large")
        root.delete(f"{PROVIDERS}{provider}/")
        assert offered(root) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"prompt_price": "-1"},
            {"prompt_price": "1,5"},
            {"prompt_price": 2},
            {"context_window": 100},
            {"queue": "x"},
        ],
    )
    def test_odd_values_are_refused(self, root: APIClient, fields: Any) -> None:
        assert offer(root, added(root), "large", **fields).status_code == 400
        assert offered(root) == []

    def test_a_disabled_provider_offers_nothing_and_its_models_are_refused_by_name(
        self, root: APIClient
    ) -> None:
        provider = added(root)
        offer(root, provider, "large")
        change(root, provider, is_enabled=False)
        assert offered(root) == []
        session = root.post("/api/sessions/", {}, format="json").json()["id"]
        refused = root.post(
            f"/api/sessions/{session}/turns/", {"text": "Hi", "models": ["large"]}, format="json"
        )
        assert (refused.status_code, refused.json()["code"]) == (400, "models_invalid")
        assert "large" in refused.json()["message"]
        change(root, provider, is_enabled=True)
        assert offered(root) == ["large"]


class TestDeletion:
    def test_the_key_is_gone_history_stays_and_new_turns_are_refused(self, root: APIClient) -> None:
        provider = added(root)
        offer(root, provider, "large")
        session = root.post("/api/sessions/", {}, format="json").json()["id"]
        factories.complete_turn(root, session, "When is high tide?")
        assert root.delete(f"{PROVIDERS}{provider}/").status_code == 204

        row = Provider.objects.get()
        assert (row.encrypted_api_key, row.is_enabled) == ("", False)
        assert root.get(PROVIDERS).json()["results"] == []
        assert root.get(f"{PROVIDERS}{provider}/").json()["code"] == "provider_not_found"
        assert root.get(f"/api/sessions/{session}/messages/").json()[1]["model"] == "large"
        assert Run.objects.get().model_config.name == "large"
        refused = root.post(
            f"/api/sessions/{session}/turns/", {"text": "Hi", "models": ["large"]}, format="json"
        )
        assert "large" in refused.json()["message"]

    def test_another_provider_takes_over_the_names_of_its_models(self, root: APIClient) -> None:
        provider = added(root)
        offer(root, provider, "large")
        root.delete(f"{PROVIDERS}{provider}/")
        again = added(root)
        offer(root, again, "large")
        assert offered(root) == ["large"]
        assert ModelConfig.objects.get().provider_id == Provider.objects.get(deleted_at=None).pk

    def test_another_model_becomes_the_default(self, root: APIClient) -> None:
        provider = added(root)
        offer(root, provider, "large")
        factories.create_model("small")
        root.delete(f"{PROVIDERS}{provider}/")
        assert ModelConfig.objects.get(is_default=True).name == "small"


class TestEnvironment:
    def test_its_server_stands_first_and_cannot_be_changed(self, root: APIClient, settings: Any) -> None:
        settings.LLM_BASE_URL = "https://user:password-of-it@first.example/v1"
        factories.create_model("quick", is_default=True)
        added(root)
        first, second = root.get(PROVIDERS).json()["results"]
        assert (first["id"], first["is_environment"], first["base_url"]) == (
            None,
            True,
            "https://first.example/v1",
        )
        assert [model["name"] for model in first["models"]] == ["quick"]
        assert second["name"] == "Cloud"

    def test_it_is_not_listed_where_there_is_none(self, root: APIClient, settings: Any) -> None:
        settings.LLM_BASE_URL = ""
        assert root.get(PROVIDERS).json()["results"] == []


def test_a_check_that_is_under_way_is_not_requested_again(root: APIClient) -> None:
    provider = added(root)
    first = root.post(f"{PROVIDERS}{provider}/check/", {}, format="json").json()["latest_check"]
    again = root.post(f"{PROVIDERS}{provider}/check/", {"model": "x"}, format="json").json()["latest_check"]
    assert first == again
    assert (first["status"], first["model"], first["models"]) == ("queued", None, [])


def test_a_check_that_never_ended_is_requested_again(
    root: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = added(root)
    offer(root, provider, "large")
    root.post(f"{PROVIDERS}{provider}/check/", {}, format="json")
    monkeypatch.setattr(provider_checks, "PATIENCE", -provider_checks.PATIENCE)
    again = root.post(f"{PROVIDERS}{provider}/check/", {}, format="json").json()["latest_check"]
    assert again["model"] == "large"


def test_as_many_providers_as_there_may_be(root: APIClient) -> None:
    Provider.objects.bulk_create(Provider(name=str(n), base_url="http://a/v1") for n in range(50))
    refused = root.post(PROVIDERS, CLOUD, format="json")
    assert (refused.status_code, refused.json()["max"]) == (409, 50)


def test_a_change_of_models_is_told_to_every_socket(root: APIClient) -> None:
    from chat.events.offered_models import CHANNEL
    from chat.infrastructure.redis_client import sync_redis

    with sync_redis().pubsub(ignore_subscribe_messages=True) as listening:
        listening.subscribe(CHANNEL)
        listening.get_message(timeout=5)
        provider = added(root)
        offer(root, provider, "large")
        change(root, provider, is_enabled=False)
        told = [listening.get_message(timeout=5) for _ in range(2)]
    assert [json.loads(one["data"]) for one in told if one] == [{"type": "models_changed"}] * 2
