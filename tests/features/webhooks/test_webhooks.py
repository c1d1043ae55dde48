"""Webhooks belong to their user, who is shown a secret once, and lead to public servers alone."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Scope, TokenScope
from features.webhooks.api import MAX_WEBHOOKS
from features.webhooks.models import Webhook, WebhookDelivery
from tests import factories

WEBHOOKS = "/api/webhooks/"
URL = "https://hooks.example.com/turnwire"
pytestmark = pytest.mark.django_db(transaction=True)


def create(client: Any, url: str = URL) -> Any:
    return client.post(WEBHOOKS, {"url": url}, format="json")


def test_a_secret_is_shown_when_it_is_made_and_never_again(client: Any, caplog: Any) -> None:
    made = create(client)
    assert made.status_code == 201
    secret, pk = made.json()["secret"], made.json()["id"]
    assert secret.startswith("whsec_")
    rotated = client.post(f"{WEBHOOKS}{pk}/rotate_secret/")
    assert rotated.status_code == 200
    newer = rotated.json()["secret"]
    assert newer != secret
    changed = client.patch(f"{WEBHOOKS}{pk}/", {"is_enabled": False}, format="json")
    answers = (changed, client.get(f"{WEBHOOKS}{pk}/"), client.get(WEBHOOKS))
    page = factories.staff_client("view_webhook").get(f"/admin/chat/webhook/{pk}/change/")
    stored = Webhook.objects.get()
    for text in (
        *(answer.content.decode() for answer in (*answers, page)),
        caplog.text,
        stored.encrypted_secret,
    ):
        assert secret not in text
        assert newer not in text
    assert stored.encrypted_secret not in page.content.decode()
    assert stored.secret == newer


def test_webhooks_of_others_are_not_there(client: Any, alice: Any) -> None:
    pk = create(client).json()["id"]
    mallory = factories.api_client(factories.create_user("mallory"))
    assert mallory.get(WEBHOOKS).json() == []
    addresses = (
        (mallory.get, ""),
        (mallory.patch, ""),
        (mallory.delete, ""),
        (mallory.post, "rotate_secret/"),
    )
    for method, rest in addresses:
        answer = method(f"{WEBHOOKS}{pk}/{rest}")
        assert (answer.status_code, answer.json()["code"]) == (404, "webhook_not_found")
    assert [row["id"] for row in client.get(WEBHOOKS).json()] == [pk]


def test_a_user_has_few_webhooks(client: Any) -> None:
    for _ in range(MAX_WEBHOOKS):
        assert create(client).status_code == 201
    refused = create(client)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_webhooks")
    assert client.delete(f"{WEBHOOKS}{Webhook.objects.all()[0].pk}/").status_code == 204
    assert create(client).status_code == 201


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://169.254.169.254/latest/", "https://[::1]/", "https://hooks.example.com:22/", "ftp://hooks.example.com/", "no url", ""],
)  # fmt: skip
def test_no_webhook_leads_to_a_private_address(client: Any, url: str) -> None:
    refused = create(client, url)
    assert (refused.status_code, refused.json()["field"]) == (400, "url")
    pk = create(client).json()["id"]
    assert client.patch(f"{WEBHOOKS}{pk}/", {"url": url}, format="json").status_code == 400
    assert Webhook.objects.get().url == URL


def test_without_a_key_for_secrets_there_are_no_webhooks(client: Any, settings: Any) -> None:
    settings.SECRETS_KEYS = []
    refused = create(client)
    assert (refused.status_code, refused.json()["code"]) == (409, "encryption_unavailable")


@pytest.mark.parametrize(("scope", "reads"), [(Scope.WRITE, 200), (Scope.READ, 200), (Scope.CHAT, 403)])
def test_a_token_without_full_rights_makes_no_webhook(alice: Any, scope: Scope, reads: int) -> None:
    _, token = TokenScope.objects.create_token(alice, scope)
    by_scope = APIClient()
    by_scope.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert by_scope.get(WEBHOOKS).status_code == reads
    assert create(by_scope).status_code == (201 if scope == Scope.WRITE else 403)
    assert Webhook.objects.count() == (scope == Scope.WRITE)


def test_a_webhook_goes_with_its_user_and_takes_its_deliveries_along(
    alice: Any, client: Any, session: str
) -> None:
    create(client)
    factories.complete_turn(client, session)
    assert WebhookDelivery.objects.count() == 1
    alice.delete()
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_a_webhook_that_is_disabled_forgets_what_it_was_to_be_told(client: Any, session: str) -> None:
    pk = create(client).json()["id"]
    factories.complete_turn(client, session)
    assert (
        client.patch(f"{WEBHOOKS}{pk}/", {"is_enabled": False}, format="json").json()["is_enabled"] is False
    )
    assert not WebhookDelivery.objects.exists()
    factories.complete_turn(client, session, "And now?")
    assert not WebhookDelivery.objects.exists()
    client.patch(f"{WEBHOOKS}{pk}/", {"is_enabled": True}, format="json")
    factories.complete_turn(client, session, "And then?")
    assert WebhookDelivery.objects.count() == 1
