"""The runtime and the scripted model server of the worker's tests."""

from tests.llm_worker.conftest import (
    agent_session,
    answer,
    ask,
    deliver,
    preloaded_server,
    runtime,
    upstream,
)

__all__ = ["agent_session", "answer", "ask", "deliver", "preloaded_server", "runtime", "upstream"]
