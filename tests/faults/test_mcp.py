"""Workers killed while a call has images, and while one waits for its user to sign in to its MCP server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.server.auth.provider import AccessToken

from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario
from tests.faults.test_tools import acting, ask
from tests.mcp_oauth_server import SCOPE, Issuer, serve

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240), pytest.mark.usefixtures("without_workers")]

IMAGES = """SELECT file.status FROM chat_toolcallimage image JOIN chat_toolcall call ON call.id = image.tool_call_id
JOIN knowledge_file file ON file.id = image.file_id WHERE call.run_id = %s"""
UNUSED = """SELECT id FROM knowledge_file WHERE is_tool_image
AND NOT EXISTS (SELECT FROM chat_toolcallimage image WHERE image.file_id = knowledge_file.id)"""
TIDE = {"call": {"name": "harbour__tide", "arguments": {"place": "Sole"}}}
# As a worker lists it.
ADD_SERVER = """
from datetime import timedelta
from django.utils import timezone
from chat.models import McpServer
tool = {"name": "harbour__tide", "tool": "tide", "description": "Tells the tide.", "parameters": {"type": "object"},
        "read_only": True, "destructive": False, "idempotent": True, "open_world": False}
McpServer.objects.filter(name="harbour").delete()
McpServer.objects.create(name="harbour", transport="http", url="%s", approval="never", status="ready", tools=[tool],
                         expires_at=timezone.now() + timedelta(hours=1))"""
REMOVE_SERVER = "from chat.models import McpServer; McpServer.objects.filter(name='harbour').delete()"
# As a worker does that dies before it lets the calls go on that wait.
SIGN_IN = """
from django.contrib.auth.models import User
from chat.models import McpCredential, McpServer, McpSignIn
from features.mcp.client.oauth_tokens import Secret
server = McpServer.objects.get(name="harbour")
sign_in = McpSignIn.objects.begin(User.objects.get(username="alice"), server, "http://localhost/mcp/callback/")
secret = Secret(access_token="token", refresh_token=None, token_endpoint="http://localhost/token",
                client={"client_id": "c", "redirect_uris": ["http://localhost/"]}, resource=server.url, scope=None)
McpCredential.objects.store(sign_in, "http://localhost", secret.model_dump(mode="json"))"""
ADD_TIDE = """UPDATE chat_agent SET tools = '["harbour__*"]' WHERE name = 'Sailor' RETURNING id"""


@pytest.fixture
def harbour(cluster: Cluster) -> Iterator[Issuer]:
    """A server that demands a sign-in."""
    with serve(cluster.stack.mcp_port) as issuer:
        cluster.stack.manage("shell", "-v", "0", "-c", ADD_SERVER % f"{issuer.iss}/mcp")
        yield issuer
    cluster.stack.manage("shell", "-v", "0", "-c", REMOVE_SERVER)


async def test_a_worker_killed_when_the_images_of_a_call_are_stored_leaves_one_of_each(
    cluster: Cluster, scenario: Scenario
) -> None:
    acting(cluster, "llm.doomed", FAULT_POINTS="after_tool_images_stored=kill")
    cluster.upstream.reply({"text": "I draw. "}, {"call": {"name": "draw", "arguments": {}}}, after_tools=0)
    cluster.upstream.reply({"text": "Drawn."}, after_tools=1)
    question = await ask(scenario, cluster, may_act=True)
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    assert len(cluster.rows(IMAGES, question.run)) == 1
    scenario.record_fault()
    acting(cluster, "llm.1")
    view = await question.ended()
    assert (view.text, view.stop_reason) == ("I draw. \n\nDrawn.", "finished")
    await scenario.check()
    assert sum(query.startswith("draw") for query in cluster.searching.queries) == 2
    assert len(cluster.rows(IMAGES, question.run)) == 1
    assert cluster.rows(UNUSED) == []
    _, answer = await scenario.client.branch(question.session)
    [drawn] = answer["tool_calls"]
    assert drawn["status"] == "completed"


async def test_every_process_is_killed_while_a_call_waits_for_a_sign_in_and_the_sweeper_lets_it_go_on(
    cluster: Cluster, scenario: Scenario, harbour: Issuer
) -> None:
    stack = cluster.stack

    def waiting() -> Any:
        return cluster.rows("SELECT id FROM chat_approval WHERE kind = 'sign_in' AND decision = ''")

    cluster.upstream.reply({"text": "A moment. "}, TIDE, after_tools=0)
    cluster.upstream.reply({"text": "High."}, after_tools=1)
    question = await ask(scenario, cluster, may_act=False)
    await asyncio.to_thread(cluster.rows, ADD_TIDE)
    stack.start("llm", "llm.first")
    await asyncio.to_thread(cluster.wait_until, waiting, "a call that waits for a sign-in")
    scenario.record_fault()
    await asyncio.to_thread(cluster.kill, *list(stack.processes), with_children=True)
    harbour.access["token"] = AccessToken(token="token", client_id="c", scopes=[SCOPE])
    await asyncio.to_thread(stack.manage, "shell", "-v", "0", "-c", SIGN_IN)
    for name in ("web", "sweeper", "llm"):
        stack.start(name)
    view = await question.ended()
    assert (view.text, view.stop_reason) == ("A moment. \n\nHigh.", "finished")
    await scenario.check()
    _, answer = await scenario.client.branch(question.session)
    assert [call["response"] for call in answer["tool_calls"]] == ["high at Sole"]
