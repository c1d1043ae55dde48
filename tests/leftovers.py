"""What tests of the same processes leave to each other: rows, messages in the queues, contents of files.

A test that begins without them neither waits for them nor counts them. Users, their tokens and the models stay.
"""

import time
from functools import partial
from typing import Any, Final

import httpx2
import psycopg
import redis

from chat.protocol.tasks import COMPRESSION_QUEUE, DEFAULT_QUEUE, INGEST_QUEUE
from tests.deadlocks import delete_in_spite_of_deadlocks
from tests.stack import Stack

KEPT: Final = (
    "chat_grouplimits",
    "chat_modelconfig",
    "chat_systemprompt",
    "chat_tokenscope",
    "knowledge_embeddingmodel",
)
TABLES: Final = """
    SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename ~ '^(chat|knowledge)_' AND tablename <> ALL(%s)"""
# (run, its user)
UNDER_WAY: Final = """
    SELECT run.id, auth_user.username FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
    JOIN chat_session AS session ON session.id = turn.session_id JOIN auth_user ON auth_user.id = session.owner_id
    WHERE run.announced_at IS NULL OR turn.ended_at IS NULL"""
LIMIT_S: Final = 60


def is_answering(stack: Stack) -> bool:
    """Whether a worker has an answer of an earlier test to write."""
    return bool(_rows(stack, UNDER_WAY))


def end_answers(stack: Stack) -> None:
    """Stop what earlier tests have asked for and not waited for: it would take what the next one scripts."""
    limit = time.monotonic() + LIMIT_S
    while is_answering(stack):
        with httpx2.Client(base_url=stack.base_url, trust_env=False) as http:
            for run, name in _rows(stack, UNDER_WAY):
                headers = {"Authorization": f"Token {stack.create_token(name)}"}
                http.post(f"/api/runs/{run}/cancellation/", headers=headers, json={})
        assert time.monotonic() < limit, f"answers of earlier tests do not end: {stack.log('llm')[-3000:]}"
        time.sleep(0.1)


def forget(stack: Stack) -> None:
    """Delete them. The processes may run: rows are deleted as their users could do it."""
    delete_in_spite_of_deadlocks(partial(_delete_rows, stack))
    with redis.Redis.from_url(stack.environment["REDIS_URL"]) as client:
        client.delete(DEFAULT_QUEUE, COMPRESSION_QUEUE, INGEST_QUEUE, "unacked", "unacked_index")
    contents = stack.directory / "media" / "files"
    for path in contents.iterdir() if contents.exists() else ():
        path.unlink(missing_ok=True)


def _delete_rows(stack: Stack) -> None:
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        # Neither triggers nor foreign keys count the rows of a table that is emptied with all others.
        connection.execute("SET LOCAL session_replication_role = replica")
        for (table,) in connection.execute(TABLES, [list(KEPT)]).fetchall():
            connection.execute(f'DELETE FROM "{table}"')


def _rows(stack: Stack, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        return connection.execute(query).fetchall()
