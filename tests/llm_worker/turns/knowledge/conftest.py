"""Alice, her API and a scripted model, for turns that search knowledge bases."""

from typing import Any

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.models import SystemPrompt
from chat.prompts import dynamic_context
from tests import factories


@pytest.fixture
def alice(transactional_db: None, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.MEDIA_ROOT = tmp_path
    settings.EMBEDDINGS_BASE_URL = settings.EMBEDDINGS_MODEL = ""
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    SystemPrompt.edit("Help people.")
    sync_redis().flushdb()
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any, upstream: Any) -> Any:
    factories.create_model("large", base_url=upstream.base_url, is_default=True)
    return factories.api_client(alice)
