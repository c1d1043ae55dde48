"""Fixtures: alice with a session and two models. No worker runs; the tests act as one."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Session
from tests import factories


@pytest.fixture
def alice(db: None) -> Any:
    factories.create_model("quick", is_default=True)
    factories.create_model("deep")
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any) -> APIClient:
    return factories.api_client(alice)


@pytest.fixture
def session(alice: Any) -> str:
    return str(Session.objects.start(alice).pk)
