from collections.abc import AsyncIterator

import pytest

from tests.llm_worker.mcp.client import Client


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client()
    yield made
    await made.connections.close()
