"""The admin of MCP servers: entered in a form, or imported as desktop clients list them."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.models import Agent, McpServer
from features.mcp import tool_lists as servers
from features.mcp.imports import ImportRefused, read_servers
from tests import factories

pytestmark = pytest.mark.django_db

ADD = "/admin/chat/mcpserver/add/"
IMPORT = "/admin/chat/mcpserver/import/"
STDIO = {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "${MCP_GITHUB_TOKEN}"}}
HTTP = {"url": "https://mcp.example.com/mcp", "headers": {"X-Key": "$MCP_EXAMPLE_KEY"}}


@pytest.fixture(autouse=True)
def allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MCP_COMMANDS = ["npx"]
    monkeypatch.setattr(servers, "_send", lambda *_: None)


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def imported(admin: Client, **listed: Any) -> Any:
    return admin.post(IMPORT, {"text": json.dumps({"mcpServers": listed})})


def test_servers_are_imported_as_desktop_clients_list_them(admin):
    assert imported(admin, **{"Git Hub": STDIO, "example": HTTP}).status_code == 302
    rows = McpServer.objects.values_list("name", "transport", "command", "url", "env", "headers")
    assert list(rows) == [
        ("Git-Hub", "stdio", ["npx", "-y", "server"], "", {"TOKEN": "MCP_GITHUB_TOKEN"}, {}),
        ("example", "http", [], "https://mcp.example.com/mcp", {}, {"X-Key": "MCP_EXAMPLE_KEY"}),
    ]
    assert "Git-Hub" in admin.get("/admin/chat/mcpserver/").content.decode()


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ({"a": STDIO, "b": {"command": "bash"}}, "MCP_COMMANDS"),
        ({"a": STDIO, "b": {**STDIO, "env": {"TOKEN": "ghp_secret"}}}, "b: TOKEN has a value"),
        ({"a": HTTP, "b": {**HTTP, "type": "sse"}}, "sse is not supported"),
        ({"a": HTTP, "b": {**HTTP, "type": []}}, "is not supported"),
        ({"a": HTTP, "b": {}}, "neither a command nor a url"),
        ({"a": HTTP, "b": {"url": "http://127.0.0.1/"}}, "No MCP server"),
    ],
)
def test_one_that_is_refused_keeps_all_of_them_out_and_no_value_is_shown(admin, listed, says):
    page = imported(admin, **listed).content.decode()
    assert says in page
    assert McpServer.objects.count() == 0


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mcpServers": {}}', '{"mcpServers": {"a": 1}}', "[" * 9_999]
)
def test_what_lists_no_servers_is_refused(text):
    with pytest.raises(ImportRefused):
        read_servers(text)


def test_a_server_is_entered_in_the_form_by_the_same_rules(admin):
    form = {
        "name": "git",
        "transport": "stdio",
        "command": '["bash"]',
        "approval": "ask",
        "sign_in": "user",
        "is_enabled": "on",
    }
    assert "MCP_COMMANDS" in admin.post(ADD, form).content.decode()
    assert admin.post(ADD, {**form, "command": '["npx"]', "enabled_tools": "5"}).status_code == 200
    assert admin.post(ADD, {**form, "command": '["npx"]'}).status_code == 302
    row = McpServer.objects.get()
    page = f"/admin/chat/mcpserver/{row.pk}/change/"
    assert admin.get(page).status_code == 200
    assert admin.post(page, {**form, "command": '["npx", "-y"]'}).status_code == 302
    row.refresh_from_db()
    assert (row.command, row.approval, row.env) == (["npx", "-y"], "ask", {})


def test_a_document_is_pasted_or_read_from_a_file(admin):
    form = {"name": "tides", "transport": "openapi", "approval": "ask", "sign_in": "user", "is_enabled": "on"}
    uploaded = SimpleUploadedFile("tides.yaml", b"openapi: 3.1.0")
    assert "not UTF-8" in (
        admin.post(ADD, {**form, "document_file": SimpleUploadedFile("a.json", b"\xff")}).content.decode()
    )
    assert admin.post(ADD, {**form, "document_file": uploaded}).status_code == 302
    row = McpServer.objects.get()
    assert (row.document, row.url) == ("openapi: 3.1.0", "")
    page = f"/admin/chat/mcpserver/{row.pk}/change/"
    assert admin.post(page, {**form, "document": "openapi: 3.0.0"}).status_code == 302
    row.refresh_from_db()
    assert row.document == "openapi: 3.0.0"


def test_the_tools_of_a_server_that_has_listed_some_are_ticked(admin):
    def tool(name: str, description: str) -> dict[str, Any]:
        return {"name": f"git__{name}", "tool": name, "description": description}

    tools = [tool("log", "Shows\nwhat <was>  done."), tool("push", "x" * 500)]
    row = McpServer.objects.create(
        name="git", transport="stdio", command=["npx"], tools=tools, enabled_tools=["log", "gone"]
    )
    page = f"/admin/chat/mcpserver/{row.pk}/change/"
    shown = admin.get(page).content.decode()
    assert "log: Shows what &lt;was&gt; done." in shown
    assert "x" * 200 not in shown
    ticked = re.findall(r'name="enabled_tools" value="(\w+)"[^>]*checked', shown)
    assert sorted(ticked) == ["gone", "log"]
    form = {
        "name": "git",
        "transport": "stdio",
        "command": '["npx"]',
        "approval": "ask",
        "sign_in": "user",
        "is_enabled": "on",
    }
    assert admin.post(page, {**form, "enabled_tools": ["push", "log"]}).status_code == 302
    row.refresh_from_db()
    assert sorted(row.enabled_tools) == ["log", "push"]
    # A page from before there was a list sends JSON.
    assert admin.post(page, {**form, "enabled_tools": "[1"}).status_code == 200
    assert admin.post(page, {**form, "enabled_tools": '["push"]'}).status_code == 302
    row.refresh_from_db()
    assert row.enabled_tools == ["push"]
    assert admin.post(page, {**form, "enabled_tools": "[]"}).status_code == 302
    row.refresh_from_db()
    assert row.enabled_tools == []


def test_only_who_may_add_servers_imports_them(client):
    user = factories.create_user("staff", is_staff=True)
    client.force_login(user)
    assert client.post(IMPORT, {"text": "{}"}).status_code == 403


def test_the_form_of_an_agent_offers_tools_of_servers_and_keeps_those_that_are_gone(admin):
    McpServer.objects.create(name="time", transport="stdio", command=["npx"])
    owner = factories.create_user("alice")
    agent = Agent.objects.create(owner=owner, name="Clock", tools=["old__now", "current_time"])
    page = f"/admin/chat/agent/{agent.pk}/change/"
    shown = admin.get(page).content.decode()
    assert all(f'value="{name}"' in shown for name in ("time__*", "old__now"))
    form = {"owner": owner.pk, "name": "Clock", "tools": ["old__now", "time__*"], "context_layout": "moving"}
    assert admin.post(page, form).status_code == 302
    agent.refresh_from_db()
    assert sorted(agent.tools) == ["old__now", "time__*"]
