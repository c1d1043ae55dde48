"""Fixtures: alice with a session and two models, a full Redis. No worker runs; the tests act as one."""

from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.infrastructure.redis_client import sync_redis
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


@pytest.fixture
def full_redis() -> Iterator[None]:
    """It replies OOM to every write."""
    redis = sync_redis()
    before = redis.config_get("maxmemory*")
    redis.config_set("maxmemory-policy", "noeviction")
    redis.config_set("maxmemory", 1)
    yield
    for name in ("maxmemory", "maxmemory-policy"):
        redis.config_set(name, before[name])
