"""A worker that dies around a safe summary: another one goes on, and nothing of a document is anywhere."""

import asyncio
import json

import psycopg
import pytest

from chat.infrastructure.fault_points import Point
from tests.canaries import Leaks, is_secondary
from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

TEXT = "The zebratext deliveries of the northern depot were late in most weeks of the spring and cost 48151623 euros."
SAFE = {"decision": "answer", "reason": "It is covered.", "summary": "They came too late."}
BASE = """
    INSERT INTO knowledge_knowledgebase
        (id, owner_id, name, summary, topics, routing_hint, routing_keywords, created_at, updated_at)
    SELECT gen_random_uuid(), id, 'Staff', 'zebrasummary', '{zebratopic}', '', '{}', now(), now()
    FROM auth_user WHERE username = 'carol' RETURNING id::text
"""
MEMBER = """
    INSERT INTO knowledge_knowledgebasemember (id, knowledge_base_id, user_id, role, created_at)
    SELECT gen_random_uuid(), %s, id, 'restricted', now() FROM auth_user WHERE username = 'alice' RETURNING id
"""
DOCUMENT = """
    INSERT INTO knowledge_file (id, owner_id, knowledge_base_id, name, content_type, kind, size_bytes, content, status,
        error_code, text, token_count, created_at)
    SELECT gen_random_uuid(), owner_id, id, 'zebratitle.txt', 'text/plain', 'text', 0, '', 'ready', '', %s, 30, now()
    FROM knowledge_knowledgebase WHERE id = %s RETURNING id
"""
STORED = """
    SELECT call.response, call.documents::text FROM chat_toolcall AS call WHERE call.run_id = %s
"""


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize(("point", "asked"), [("before_call_ended", 2), ("after_call_ended", 1)])
async def test_an_artifact_that_is_stored_is_not_made_again(
    cluster: Cluster, scenario: Scenario, point: Point, asked: int
) -> None:
    leaks = Leaks(["zebratext", "zebratitle", "zebrasummary", "zebratopic", "48151623"])
    upstream = cluster.upstream
    upstream.reply({"call": {"name": "knowledge_base_search", "arguments": {"query": "late"}}}, after_tools=0)
    upstream.reply({"text": "They came too late."}, after_tools=1)
    upstream.reply({"text": json.dumps(SAFE)}, stream=False)
    base = await asyncio.to_thread(plant, cluster)
    cluster.worker("llm.doomed", FAULT_POINTS=f"{point}=kill", LOG_LLM_REQUESTS="1")
    question = await scenario.ask("Why?", session={"knowledge_bases": [base]})
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    cluster.worker("llm.1", LOG_LLM_REQUESTS="1")
    view = await question.ended()
    assert view.text == "They came too late."
    await scenario.check()
    assert sum(map(is_secondary, upstream.asides)) == asked
    [(response, documents)] = await asyncio.to_thread(cluster.rows, STORED, question.run)
    assert (json.loads(response)["summary"], documents) == (SAFE["summary"], "[]")
    assert leaks.in_requests(upstream) == []
    assert await asyncio.to_thread(kept, leaks, cluster) == []
    logs = [cluster.stack.log(name) for name in ("llm.doomed", "llm.1", "web", "sweeper")]
    assert "safe_summary_completed" in "".join(logs)
    assert not leaks.has(logs)
    frames = [frame for socket in question.watcher.log.sockets for _, frame in socket.frames]
    assert any("They came too late." in json.dumps(frame) for frame in frames)
    assert not leaks.has(frames)
    session = f"/api/sessions/{question.session['id']}"
    paths = [f"{session}/messages/", f"{session}/export/?as=json", f"/api/runs/{question.run}/packets/"]
    for path in (*paths, f"/api/knowledge-bases/{base}/", "/api/knowledge-bases/"):
        answer = await scenario.client.http.get(path)
        assert answer.status_code == 200
        assert not leaks.has(answer.text), path


def kept(leaks: Leaks, cluster: Cluster) -> list[str]:
    """Where the services have a canary."""
    with psycopg.connect(cluster.database_url) as database, cluster.redis() as redis:
        return leaks.in_tables(database) + leaks.in_redis(redis)


def plant(cluster: Cluster) -> str:
    """A base of carol's with one document, and alice as its restricted member; returns its id."""
    [(base,)] = cluster.rows(BASE)
    cluster.rows(MEMBER, base)
    cluster.rows(DOCUMENT, TEXT, base)
    return str(base)
