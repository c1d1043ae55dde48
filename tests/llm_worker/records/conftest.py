import pytest

from chat.models import ModelConfig
from tests.upstream import Upstream


@pytest.fixture
def small(upstream: Upstream, transactional_db: None) -> ModelConfig:
    """A model whose window a few answers fill."""
    return ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=3000, max_output_tokens=500
    )
