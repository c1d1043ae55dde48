"""Fixtures: alice with a session and two models. No worker runs; the tests act as one."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Session
from tests import cast


@pytest.fixture
def alice(db: None) -> Any:
    cast.model("quick", is_default=True)
    cast.model("deep")
    return cast.user("alice")


@pytest.fixture
def client(alice: Any) -> APIClient:
    return cast.client_of(alice)


@pytest.fixture
def session(alice: Any) -> str:
    return str(Session.objects.start(alice).pk)
