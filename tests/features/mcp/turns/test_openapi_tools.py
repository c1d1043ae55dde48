"""Runs that are offered operations of an OpenAPI document, with a real server on loopback."""

import json

import pytest

from chat.models import McpServer, ModelConfig, ToolCall
from chat.protocol.states import Status
from chat.turns.approvals import ApprovalBody, decide, get_approval
from tests import factories
from tests.api_server import ApiServer
from tests.features.mcp.worker_tasks import list_mcp_tools
from tests.tool_fixtures import tool_responses


def call(name: str, **arguments: object) -> dict:
    return {"call": {"name": f"tides__{name}", "arguments": arguments}}


@pytest.fixture
def api(settings):
    with ApiServer() as serving:
        settings.URL_ALLOWED_HOSTS = frozenset({serving.host})
        yield serving


@pytest.fixture
def listed(api, runtime, transactional_db):
    """Adds a server whose document the worker has read."""

    def listed(**fields) -> McpServer:
        source = {} if "document" in fields else {"url": f"{api.url}/openapi.json"}
        server = McpServer.objects.create(name="tides", transport="openapi", **{**source, **fields})
        list_mcp_tools(runtime, str(server.pk))
        server.refresh_from_db()
        return server

    return listed


@pytest.fixture
def session(agent_session, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    return agent_session(tools=["tides__*"])


def test_a_model_is_offered_the_operations_and_reads_what_they_answer(listed, answer, api, upstream):
    server = listed()
    assert (server.status, server.problem) == ("ready", "")
    run = answer(
        call("getPort", port="Büsum/Süd", days=["today", "tomorrow"]), call("missing"), call("nothing")
    )
    assert run.status == Status.COMPLETED, run.error_code
    offered = {tool["function"]["name"] for tool in upstream.requests[0].body["tools"]}
    assert {"tides__getPort", "tides__addTide"} <= offered
    # The calls run side by side.
    path = "/ports/B%C3%BCsum%2FS%C3%BCd?days=today&days=tomorrow"
    assert sorted(one[:2] for one in api.received) == [
        ("GET", "/missing"),
        ("GET", "/nothing"),
        ("GET", path),
    ]
    read, missing, nothing = tool_responses(upstream.requests[-1])
    assert json.loads(read) == {"path": path}
    assert missing == (
        'The server answered with status 404 (Not Found): {"detail": "There is no such port."}'
    )
    assert nothing == "The server answered with status 204 (No Content) and no content."
    client = factories.api_client(run.turn.session.owner)
    *_, shown = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()
    assert [call["status"] for call in shown["tool_calls"]] == ["completed", "failed", "completed"]
    assert shown["tool_calls"][0]["structured"] == {"path": path}


def test_an_operation_that_changes_something_waits_for_its_user_and_is_called_once(
    listed, answer, api, deliver, upstream
):
    listed()
    run = answer(call("addTide", body={"height": 3.5}))
    assert (run.status, api.received) == (Status.WAITING, [])
    row = ToolCall.objects.get(run=run)
    decide(get_approval(run.turn.session.owner, row.pk), ApprovalBody(approved=True))
    assert deliver(run).result(60)
    [(method, path, headers, body)] = api.received
    assert (method, path, json.loads(body)) == ("POST", "/tides", {"height": 3.5})
    assert (headers["content-type"], headers["idempotency-key"]) == ("application/json", str(row.pk))
    assert tool_responses(upstream.requests[-1]) == ['{"added": true}']


def test_a_call_whose_answer_is_lost_is_unknown_if_it_may_have_changed_something(listed, answer, api):
    listed(approval="never")
    run = answer(call("breakOff"), call("readBroken"))
    assert run.status == Status.COMPLETED, run.error_code
    statuses = ToolCall.objects.filter(run=run).order_by("tab_index").values_list("status", flat=True)
    assert list(statuses) == ["unknown", "failed"]


def test_an_answer_of_fifty_megabytes_is_cut(listed, answer, upstream):
    listed()
    answer(call("flood"))
    [read] = tool_responses(upstream.requests[-1])
    assert len(read) < 101_000
    assert read.endswith("(Cut off: the answer is longer.)")


def test_a_redirect_to_a_private_address_is_not_followed(listed, answer, api, upstream):
    listed()
    with ApiServer() as inside:
        api.leads_to = f"{inside.url}/secret"
        answer(call("away"))
        assert inside.received == []
    [read] = tool_responses(upstream.requests[-1])
    assert "url_address_blocked" in read


def test_operations_at_a_private_address_are_not_offered_and_those_listed_before_are_not_called(
    listed, answer, api, upstream, settings, runtime
):
    server = listed()
    settings.URL_ALLOWED_HOSTS = frozenset()
    answer(call("getPort", port="Husum"))
    assert "url_address_blocked" in tool_responses(upstream.requests[-1])[0]
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, "url_address_blocked" in server.problem) == ("down", True)
    server.change(url="", document=json.dumps({**api.document, "servers": [{"url": api.url}]}))
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, "not reached" in server.problem) == ("down", True)
    assert api.received == []


@pytest.fixture
def other(api, settings, monkeypatch):
    """Another host; the workers have a token."""
    monkeypatch.setenv("MCP_TIDES_TOKEN", "Bearer ebb")
    with ApiServer() as serving:
        settings.URL_ALLOWED_HOSTS = frozenset({api.host, serving.host})
        yield serving


def test_headers_have_the_values_of_variables_and_are_sent_to_the_origin_of_the_document_alone(
    listed, answer, api, other
):
    elsewhere = {**api.document["paths"]["/nothing"], "servers": [{"url": other.url}]}
    api.document = {**api.document, "paths": {**api.document["paths"], "/nothing": elsewhere}}
    listed(headers={"Authorization": "MCP_TIDES_TOKEN"})
    answer(call("getPort", port="Husum"), call("nothing"))
    sent = [headers.get("authorization") for headers in api.readers]
    assert (sent, api.received[0][2]["authorization"]) == (["Bearer ebb"], "Bearer ebb")
    assert [("authorization" in headers) for _, _, headers, _ in other.received] == [False]


def test_a_document_that_leads_elsewhere_gets_headers_sent_there_by_the_row_alone(
    listed, answer, api, other, runtime
):
    api.document = {**api.document, "servers": [{"url": other.url}]}
    server = listed(headers={"Authorization": "MCP_TIDES_TOKEN"})
    assert (server.status, f"{other.url}: enter it as base_url" in server.problem) == ("down", True)
    server.change(base_url=other.url)
    list_mcp_tools(runtime, str(server.pk))
    assert "authorization" not in api.readers[-1]
    answer(call("getPort", port="Husum"))
    assert other.received[0][2]["authorization"] == "Bearer ebb"


def test_a_key_in_the_query_is_sent_to_the_origin_of_the_document_alone_and_is_no_argument(
    listed, answer, api, other, upstream
):
    key = {"in": "query", "name": "key", "required": True, "schema": {"type": "string"}}
    paths = api.document["paths"]
    port = paths["/ports/{port}"]["get"]
    port = {"get": {**port, "parameters": [*port["parameters"], key]}}
    elsewhere = {**paths["/nothing"], "servers": [{"url": other.url}]}
    api.document = {**api.document, "paths": {**paths, "/ports/{port}": port, "/nothing": elsewhere}}
    listed(query={"key": "MCP_TIDES_TOKEN"})
    answer(call("getPort", port="Husum", days=["today"]), call("nothing"))
    assert [path for _, path, _, _ in api.received] == ["/ports/Husum?days=today&key=Bearer%20ebb"]
    assert [path for _, path, _, _ in other.received] == ["/nothing"]
    offered = {
        tool["function"]["name"]: tool["function"]["parameters"]
        for tool in upstream.requests[0].body["tools"]
    }
    assert set(offered["tides__getPort"]["properties"]) == {"port", "days"}


def test_addresses_in_a_document_are_relative_to_where_it_was_read(listed, answer, api, other):
    api.leads_to = f"{other.url}/openapi.json"
    listed(url=f"{api.url}/away")
    answer(call("getPort", port="Husum"))
    assert [path for _, path, _, _ in other.received] == ["/ports/Husum"]


def test_the_problem_of_a_document_is_told_and_it_is_read_again_on_request(listed, api, runtime):
    kept, api.document = api.document, {"swagger": "2.0", "paths": {}}
    server = listed()
    assert (server.status, server.offered_to()) == ("down", [])
    assert server.problem == "The document is of Swagger 2.0; OpenAPI 3.0 or later is needed."
    api.document = kept
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, server.problem, len(server.offered_to())) == ("ready", "", 8)


def test_those_operations_are_offered_that_staff_have_chosen_of_a_pasted_document(
    listed, answer, api, upstream
):
    listed(document=json.dumps(api.document), base_url=api.url, enabled_tools=["getPort"])
    answer()
    [offered] = upstream.requests[0].body["tools"]
    assert offered["function"]["name"] == "tides__getPort"
