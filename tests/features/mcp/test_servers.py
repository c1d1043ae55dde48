"""MCP servers by REST: everybody sees whose tools may be chosen, staff with the permission enter them, and no secret is read."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.checks import Tags, run_checks
from rest_framework.test import APIClient

from chat.models import McpServer
from chat.presenters.page_bytes import PAGE_BYTES
from features.mcp import tool_lists as servers
from tests import factories

pytestmark = pytest.mark.django_db

SERVERS = "/api/mcp-servers/"
TIME = {"name": "time", "transport": "stdio", "command": ["mcp-server-time", "--local-timezone", "UTC"]}
WEB = {"name": "web", "transport": "http", "url": "https://mcp.example.com/mcp"}
API = {"name": "tides", "transport": "openapi", "url": "https://tides.example.com/openapi.json"}
REGISTERED = {
    "oauth_issuer": "https://auth.example.com",
    "oauth_client_id": "turnwire",
    "oauth_client_secret": "MCP_HARBOUR_SECRET",
}
TOOL = {
    "name": "time__now",
    "tool": "now",
    "description": "The time.",
    "parameters": {"type": "object"},
    "read_only": True,
    "destructive": False,
    "idempotent": False,
    "open_world": False,
}


@pytest.fixture(autouse=True)
def requested(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The servers whose tools workers were told to list."""
    settings.MCP_COMMANDS = ["mcp-server-time"]
    sent: list[str] = []
    monkeypatch.setattr(servers, "_send", lambda server, _: sent.append(server.name))
    return sent


@pytest.fixture
def root() -> APIClient:
    return factories.api_client(factories.create_user("root", is_staff=True, is_superuser=True))


def add(root: APIClient, body: dict[str, Any], **fields: Any) -> Any:
    return root.post(SERVERS, {**body, **fields}, format="json")


@pytest.mark.parametrize(
    ("is_staff", "permissions", "statuses"),
    [
        (False, ["add_mcpserver", "change_mcpserver", "delete_mcpserver"], [200, 403, 403, 403, 403]),
        (True, [], [200, 403, 403, 403, 403]),
        (True, ["add_mcpserver"], [200, 201, 403, 403, 403]),
        (True, ["change_mcpserver"], [200, 403, 200, 202, 403]),
        (True, ["delete_mcpserver"], [200, 403, 403, 403, 204]),
    ],
)
def test_each_operation_needs_the_permission_of_the_admin(is_staff, permissions, statuses):
    user = factories.create_user("somebody", is_staff=is_staff)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    path = f"{SERVERS}{McpServer.objects.create(**WEB).pk}/"
    client = factories.api_client(user)
    answers = [
        client.get(SERVERS),
        client.post(SERVERS, TIME, format="json"),
        client.patch(path, {"approval": "ask"}, format="json"),
        client.post(f"{path}refresh/"),
        client.delete(path),
    ]
    assert [answer.status_code for answer in answers] == statuses


def test_people_see_the_tools_that_may_be_chosen_and_nothing_of_how_a_server_is_reached(root, client):
    made = add(root, TIME, env={"TOKEN": "MCP_TIME_TOKEN"})
    assert made.status_code == 201, made.json()
    McpServer.objects.update(status="ready", tools=[TOOL, {**TOOL, "name": "time__set", "tool": "set"}])
    root.patch(f"{SERVERS}{made.json()['id']}/", {"enabled_tools": ["now"]}, format="json")
    [shown] = client.get(SERVERS).json()
    assert shown == {
        "id": made.json()["id"],
        "name": "time",
        "status": "ready",
        "sign_in_state": "not_needed",
        "tools": [
            {"name": "time__now", "description": "The time.", "summary": "The time.", "read_only": True}
        ],
    }
    [for_staff] = root.get(SERVERS).json()
    assert for_staff["env"] == {"TOKEN": "MCP_TIME_TOKEN"}
    assert for_staff["all_tools"] == ["now", "set"]


def test_a_server_that_is_disabled_is_not_there_for_people(root, client):
    made = add(root, TIME, is_enabled=False).json()
    assert client.get(SERVERS).json() == []
    assert client.get(f"{SERVERS}{made['id']}/").json()["code"] == "mcp_server_not_found"
    assert len(root.get(SERVERS).json()) == 1


def test_the_tools_are_listed_when_the_server_is_added_changed_or_asked_for_them(
    root, requested, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        path = f"{SERVERS}{add(root, TIME).json()['id']}/"
        root.patch(path, {"approval": "never"}, format="json")
        assert root.post(f"{path}refresh/").status_code == 202
        root.patch(path, {"is_enabled": False}, format="json")
    assert requested == ["time"] * 3


def test_tools_of_another_configuration_are_forgotten_and_those_of_the_same_are_kept(root):
    path = f"{SERVERS}{add(root, TIME).json()['id']}/"
    McpServer.objects.update(status="ready", tools=[TOOL])
    assert root.patch(path, {"approval": "ask"}, format="json").json()["status"] == "ready"
    changed = root.patch(path, {"command": ["mcp-server-time"]}, format="json").json()
    assert (changed["status"], changed["tools"]) == ("down", [])


@pytest.mark.parametrize(
    ("body", "fields", "code", "field"),
    [
        (TIME, {"command": ["bash", "-c", "id"]}, "mcp_command_refused", "command"),
        (TIME, {"command": ["/usr/bin/mcp-server-time"]}, "mcp_command_refused", "command"),
        (TIME, {"command": []}, "invalid_value", "command"),
        (TIME, {"url": "https://example.com"}, "invalid_value", "url"),
        (TIME, {"name": "a__b"}, "invalid_value", "name"),
        (TIME, {"name": "zeit!"}, "invalid_value", "name"),
        (TIME, {"env": {"TOKEN": "not a name"}}, "invalid_value", "env"),
        (TIME, {"env": {"TOKEN": "sk-secret-value"}}, "invalid_value", "env"),
        (TIME, {"env": {"A=B": "NAME"}}, "invalid_value", "env"),
        (TIME, {"env": {"TOKEN": "SECRET_KEY"}}, "mcp_variable_refused", "env"),
        (TIME, {"env": {"TOKEN": "DATABASE_URL"}}, "mcp_variable_refused", "env"),
        (TIME, {"env": {"TOKEN": "AWS_SECRET_ACCESS_KEY"}}, "mcp_variable_refused", "env"),
        (TIME, {"env": {"TOKEN": "MCP_COMMANDS"}}, "mcp_variable_refused", "env"),
        (WEB, {"headers": {"Authorization": "PGPASSWORD"}}, "mcp_variable_refused", "headers"),
        (API, {"query": {"key": "PGPASSWORD"}}, "mcp_variable_refused", "query"),
        (TIME, {"env": {"TOKEN": "LLM_API_KEY"}}, "mcp_variable_refused", "env"),
        (TIME, {"env": {"TOKEN": "LLM_KEY_CLOUD"}}, "mcp_variable_refused", "env"),
        (TIME, {"transport": "sse"}, "invalid_value", "transport"),
        (WEB, {"url": "file:///etc/passwd"}, "mcp_url_refused", "url"),
        (WEB, {"url": "http://127.0.0.1:8000/mcp"}, "mcp_url_refused", "url"),
        (WEB, {"url": "http://[::1]/mcp"}, "mcp_url_refused", "url"),
        (WEB, {"url": "http://169.254.169.254/"}, "mcp_url_refused", "url"),
        (WEB, {"url": "https://user:secret@example.com/"}, "mcp_url_refused", "url"),
        (WEB, {"url": ""}, "mcp_url_refused", "url"),
        (WEB, {"headers": {"Authorization": "SECRET_KEY"}}, "mcp_variable_refused", "headers"),
        (WEB, {"headers": {"Host": "NAME"}}, "invalid_value", "headers"),
        (WEB, {"headers": {"X\r\nY": "NAME"}}, "invalid_value", "headers"),
        (WEB, {"command": ["mcp-server-time"]}, "invalid_value", "command"),
        (WEB, {"document": "{}"}, "invalid_value", "document"),
        (WEB, {"base_url": "https://example.com"}, "invalid_value", "base_url"),
        (WEB, {**REGISTERED, "oauth_client_id": ""}, "invalid_value", "oauth_client_id"),
        (WEB, {**REGISTERED, "oauth_issuer": ""}, "invalid_value", "oauth_issuer"),
        (WEB, {**REGISTERED, "oauth_issuer": "http://127.0.0.1/"}, "mcp_url_refused", "oauth_issuer"),
        (WEB, {**REGISTERED, "oauth_client_secret": "gho-secret"}, "invalid_value", "oauth_client_secret"),
        (
            WEB,
            {**REGISTERED, "oauth_client_secret": "SECRET_KEY"},
            "mcp_variable_refused",
            "oauth_client_secret",
        ),
        (WEB, {"oauth_client_secret": "MCP_HARBOUR_SECRET"}, "invalid_value", "oauth_client_id"),
        (TIME, REGISTERED, "invalid_value", "oauth_issuer"),
        (API, REGISTERED, "invalid_value", "oauth_issuer"),
        (API, {"url": ""}, "invalid_value", "url"),
        (API, {"document": "{}"}, "invalid_value", "url"),
        (API, {"url": "http://127.0.0.1/"}, "mcp_url_refused", "url"),
        (API, {"base_url": "http://10.0.0.1/"}, "mcp_url_refused", "base_url"),
        (API, {"command": ["mcp-server-time"]}, "invalid_value", "command"),
        (API, {"env": {"TOKEN": "NAME"}}, "invalid_value", "env"),
        (API, {"url": "", "document": "x" * 2_000_001}, "invalid_value", "document"),
        (WEB, {"approval": "sometimes"}, "invalid_value", "approval"),
        (WEB, {"enabled_tools": "add"}, "invalid_type", "enabled_tools"),
    ],
)
def test_what_a_server_may_not_be(root, body, fields, code, field):
    refused = add(root, body, **fields)
    assert refused.status_code == 400, refused.json()
    problem = refused.json()
    assert (problem["code"], problem["field"].partition(".")[0]) == (code, field)
    assert McpServer.objects.count() == 0


def test_descriptions_of_very_many_tools_are_whole_for_one_server_and_cut_in_the_list(root):
    described = [
        {**TOOL, "name": f"tides__t{n}", "tool": f"t{n}", "description": "x" * 4_000} for n in range(300)
    ]
    server = McpServer.objects.create(
        name="tides", transport="http", url="https://a.example", status="ready", tools=described
    )
    [listed] = root.get(SERVERS).json()
    lengths = [len(tool["description"]) for tool in listed["tools"]]
    assert lengths == sorted(lengths, reverse=True)
    assert set(lengths) == {4_000, 100}
    assert sum(lengths) <= PAGE_BYTES + 300 * 100
    one = root.get(f"{SERVERS}{server.pk}/").json()
    assert {len(tool["description"]) for tool in one["tools"]} == {4_000}


def test_an_upgrade_names_the_servers_whose_variables_have_to_be_renamed():
    McpServer.objects.create(name="tides", transport="stdio", env={"TOKEN": "PGPASSWORD", "A": "MCP_A"})
    found = run_checks(tags=[Tags.database], databases=["default"])
    [warning] = [one.msg for one in found if one.id == "turnwire.W005"]
    assert "tides: PGPASSWORD is not given to MCP servers" in warning
    assert "begin with MCP_" in warning


def test_a_document_is_pasted_and_not_shown_again(root, requested, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        made = add(root, API, url="", document="openapi: 3.1.0", base_url="https://tides.example.com/")
    assert made.status_code == 201, made.json()
    assert "document" not in made.json()
    assert (made.json()["url"], made.json()["base_url"]) == ("", "https://tides.example.com/")
    path = f"{SERVERS}{made.json()['id']}/"
    McpServer.objects.update(status="ready", tools=[TOOL])
    assert root.patch(path, {"approval": "ask"}, format="json").json()["status"] == "ready"
    assert McpServer.objects.get().document == "openapi: 3.1.0"
    changed = root.patch(path, {"document": "openapi: 3.0.0"}, format="json").json()
    assert (changed["status"], requested) == ("down", ["tides"])


def test_staff_enter_the_client_that_they_have_registered(root):
    made = add(root, WEB, **REGISTERED)
    assert made.status_code == 201, made.json()
    assert {name: made.json()[name] for name in REGISTERED} == REGISTERED


def test_a_name_is_there_once(root):
    add(root, TIME)
    assert add(root, TIME).json()["code"] == "mcp_server_name_taken"
    other = add(root, TIME, name="clock").json()
    assert root.patch(f"{SERVERS}{other['id']}/", {"name": "time"}, format="json").status_code == 409


def test_the_server_of_a_trial_needs_no_place_among_the_allowed_programs_until_its_command_is_changed(root):
    server = McpServer.objects.offer_demo(["/usr/bin/python", "notes.py"])
    path = f"{SERVERS}{server.pk}/"
    assert root.patch(path, {"approval": "ask"}, format="json").status_code == 200
    refused = root.patch(path, {"command": ["/usr/bin/python", "-c", "1"]}, format="json")
    assert refused.json()["code"] == "mcp_command_refused"
    again = McpServer.objects.offer_demo(["/opt/python", "notes.py"])
    assert again.is_demo
    assert (again.pk, again.command, again.approval) == (server.pk, ["/opt/python", "notes.py"], "ask")


def test_the_server_of_a_trial_that_staff_have_changed_is_one_like_others(root):
    server = McpServer.objects.offer_demo(["/usr/bin/python", "notes.py"])
    root.patch(f"{SERVERS}{server.pk}/", {"command": ["mcp-server-time"]}, format="json")
    server.refresh_from_db()
    assert (server.is_demo, server.command) == (False, ["mcp-server-time"])


def test_a_server_that_staff_have_called_as_that_of_a_trial_stays_theirs(root):
    add(root, TIME, name="notes")
    assert McpServer.objects.offer_demo(["/usr/bin/python", "notes.py"]).command == TIME["command"]


def test_agents_and_chats_list_tools_of_servers_that_are_there(root, client):
    agent = {"name": "Clock", "prompt": "", "tools": ["time__now"]}
    assert client.post("/api/agents/", agent, format="json").json()["code"] == "tool_unknown"
    add(root, TIME)
    made = client.post("/api/agents/", {**agent, "tools": ["time__*", "time__now"]}, format="json")
    assert (made.status_code, made.json()["tools"]) == (201, ["time__*", "time__now"])
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    changed = client.patch(f"/api/sessions/{session}/", {"tools": ["time__now"]}, format="json")
    assert (changed.status_code, changed.json()["tools"]) == (200, ["time__now"])
    refused = client.patch(f"/api/sessions/{session}/", {"tools": ["time__ now"]}, format="json")
    assert refused.json()["code"] == "tool_unknown"


def test_a_question_may_demand_a_tool_that_its_server_offers_now(root, client):
    add(root, TIME)
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    client.patch(f"/api/sessions/{session}/", {"tools": ["time__*"]}, format="json")

    def demand(tool: str) -> Any:
        body = {"text": "When?", "forced_tool": tool}
        return client.post(f"/api/sessions/{session}/turns/", body, format="json").json().get("code")

    assert demand("time__now") == "tool_not_configured"
    McpServer.objects.update(status="ready", tools=[TOOL])
    assert demand("clock__now") == "tool_unknown"
    assert demand("time__now") is None
