"""Every task and thread is watched: it starts again when it fails (chat/infrastructure/background.py), or somebody waits for it."""

import re

import pytest

from tests.config.test_private_attributes import SOURCES
from tests.instance import ROOT

pytestmark = pytest.mark.pure

# File -> why its tasks or threads need no watch.
WATCHED_OTHERWISE = {
    "chat/infrastructure/background.py": "it is the watch",
    "chat/infrastructure/socket_registry.py": "one command, which logs its failure",
    "chat/sweeper/files.py": "the next sweep starts another",
    "compression/runner.py": "the compression itself is awaited",
    "knowledge/fetching/guarded_client.py": "its answer is awaited, up to a time limit",
    "llm_worker/attempt/attempt.py": "the attempt waits for its answer",
    "features/mcp/client/connection.py": "its failure is what whoever waits for the connection is told",
    "features/mcp/client/connections.py": "the end of a connection, up to a time limit",
    "features/mcp/client/credentials.py": "its outcome is awaited, or forgotten with the call that was cancelled",
    "features/mcp/client/stdio.py": "a stream that ends closes the connection",
    "features/mcp/worker_part.py": "it ends with one command",
    "features/webhooks/worker_part.py": "its failure is logged, and the claim of the delivery ends",
    "features/openai/socket.py": "each failure is answered with an event, and the starts are awaited",
    "llm_worker/attempt/runtime.py": "the loop's thread ends the process; checks of revocations end with one command",
    "llm_worker/attempt/round_store.py": "it is awaited",
    "llm_worker/loop/tool_round.py": "they are awaited",
    "llm_worker/tools/in_thread.py": "its outcome is awaited",
    "llm_worker/tools/web_search/tool.py": "they are awaited",
    "web/socket/access_watch.py": "a subscription, which waits for as long as Redis is away",
    "web/socket/user_feeds.py": "a subscription, which waits for as long as Redis is away",
    "web/socket/pubsub.py": "the reader breaks with the writer, and is watched",
    "web/socket/connection.py": "the socket is closed when its writer fails, or ends",
}


@pytest.mark.slow
def test_no_task_or_thread_ends_unnoticed() -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"\b(create_task|ensure_future|Thread|Timer)\(", path.read_text(encoding="utf-8"))
    }
    assert found == WATCHED_OTHERWISE.keys(), (
        "start it with start_task or start_thread, or say who notices its end"
    )
