"""Fixtures of the tests of webhooks: alice, her chat, and a program that is told of her answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests import factories
from tests.webhook_receiver import Receiver, receiving


@pytest.fixture
def alice(transactional_db: None) -> Any:
    factories.create_model("quick", is_default=True)
    factories.create_model("slow")
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any) -> Any:
    return factories.api_client(alice)


@pytest.fixture
def session(client: Any) -> str:
    return str(client.post("/api/sessions/", {}, format="json").json()["id"])


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.URL_ALLOWED_HOSTS = frozenset({receiver.host})
        yield receiver
