"""Resources of MCP servers become files of those who attach them, prompts texts; with a worker, and servers that demand a sign-in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import McpCatalog, McpRequest, McpServer
from features.mcp.client import server_resources
from features.mcp.client.configuration import CallFailed
from knowledge.files import blobs
from knowledge.models import File
from tests import factories
from tests.dot import DOT
from tests.features.mcp.client.client import Client, sign_in, stdio
from tests.features.mcp.worker_tasks import answer_mcp_request
from tests.mcp_oauth_server import Issuer

pytestmark = [pytest.mark.e2e]

TABLE = {"uri": "tides://table"}
ASKED = {"name": "ask_tide", "arguments": {"place": "Sole"}}


@pytest.fixture
def alice(transactional_db: None) -> User:
    return factories.create_user("alice")


@pytest.fixture
def ask_for(runtime: Any) -> Callable[..., Any]:
    """What a user has got in the end."""

    def ask_for(user: User, path: str, body: Any, status: str = "done") -> Any:
        client = factories.api_client(user)
        begun = client.post(path, body, format="json")
        assert (begun.status_code, begun.json().get("status")) == (202, "waiting"), begun.content
        answer_mcp_request(runtime, begun.json()["id"])
        answer_mcp_request(runtime, begun.json()["id"])  # a second delivery
        ended = client.get(f"/api/mcp-requests/{begun.json()['id']}/").json()
        assert ended["status"] == status, ended
        return ended

    return ask_for


def catalogs_of(user: User) -> Any:
    return factories.api_client(user).get("/api/mcp-catalogs/").json()


def path_of(server: McpServer, what: str) -> str:
    return f"/api/mcp-servers/{server.pk}/{what}/"


async def test_a_server_over_stdio_is_asked_for_its_texts_pictures_and_prompts(
    client: Client, journal: Any
) -> None:
    tests = stdio("-m", "tests.mcp_server", "stdio")
    listed = (await client.connections.list_tools(tests)).catalog
    assert listed
    assert [one.name for one in listed.resources] == ["notes", "dot", "broken"]
    assert [one.name for one in listed.prompts] == ["greet"]

    def read(uri: str) -> Any:
        return client.connections.ask(tests, lambda sdk: server_resources.read_resource(sdk, uri))

    assert await read("tests://notes/today.txt") == (b"Flut um neun", "text/plain")
    assert await read("tests://dot") == (DOT, "image/png")
    with pytest.raises(CallFailed):
        await read("tests://broken")
    filled = await client.connections.ask(
        tests, lambda sdk: server_resources.fill_prompt(sdk, "greet", {"name": "Ada"})
    )
    assert filled == "Greet Ada in English."


def test_a_resource_becomes_a_file_of_who_attaches_it_and_a_prompt_a_text(
    harbour: McpServer,
    runtime: Any,
    alice: User,
    ask_for: Any,
) -> None:
    [before] = catalogs_of(alice)
    assert (before["sign_in_state"], before["resources"]) == ("needs_sign_in", [])
    sign_in(runtime, harbour, alice)
    [listed] = catalogs_of(alice)
    assert [one["name"] for one in listed["resources"]] == ["Table of tides"]
    assert [one["name"] for one in listed["prompts"][0]["arguments"] if one["required"]] == ["place"]
    attached = ask_for(alice, path_of(harbour, "resources"), TABLE)["file"]
    assert (attached["name"], attached["kind"], attached["status"]) == (
        "Table of tides.md",
        "text",
        "processing",
    )
    file = File.objects.get()
    assert file.owner == alice
    assert blobs.read_whole(str(file.content.name)).startswith(b"# Tides of ")
    assert ask_for(alice, path_of(harbour, "prompts"), ASKED)["text"] == "How is the tide at Sole today?"


def test_asking_how_a_request_gets_on_reads_neither_the_text_of_its_file_nor_a_pasted_document(
    harbour: McpServer,
    runtime: Any,
    alice: User,
    ask_for: Any,
) -> None:
    sign_in(runtime, harbour, alice)
    asked = ask_for(alice, path_of(harbour, "resources"), TABLE)["id"]
    with CaptureQueriesContext(connection) as queries:
        assert factories.api_client(alice).get(f"/api/mcp-requests/{asked}/").json()["file"]
    read = " ".join(query["sql"] for query in queries)
    assert '"knowledge_file"."name"' in read
    assert '"knowledge_file"."text"' not in read
    assert '"chat_mcpserver"."document"' not in read


def test_what_was_listed_to_one_user_is_neither_shown_to_another_nor_read_for_them(
    harbour: McpServer,
    runtime: Any,
    alice: User,
    ask_for: Any,
) -> None:
    bob = factories.create_user("bob")
    sign_in(runtime, harbour, alice)
    asked = ask_for(alice, path_of(harbour, "resources"), TABLE)["id"]
    client = factories.api_client(bob)
    assert catalogs_of(bob)[0]["resources"] == []
    for what, body in (("resources", TABLE), ("prompts", ASKED)):
        assert client.post(path_of(harbour, what), body, format="json").status_code == 404
    assert client.get(f"/api/mcp-requests/{asked}/").status_code == 404
    sign_in(runtime, harbour, bob)
    ask_for(bob, path_of(harbour, "resources"), TABLE)
    texts = {file.owner: blobs.read_whole(str(file.content.name)) for file in File.objects.all()}
    assert texts[bob] != texts[alice]
    factories.api_client(alice).delete(path_of(harbour, "sign-in"))
    assert McpCatalog.objects.get().credential.user == bob


def test_why_it_fails_is_one_sentence_with_the_name_of_the_server(
    harbour: McpServer,
    runtime: Any,
    alice: User,
    ask_for: Any,
    issuer: Issuer,
    settings: Any,
) -> None:
    sign_in(runtime, harbour, alice)
    settings.MAX_FILE_BYTES = 3
    failed = ask_for(alice, path_of(harbour, "resources"), TABLE, "failed")["error"]
    assert failed == {"code": "file_too_large", "message": "harbour: The file is too large."}
    issuer.revoke()
    failed = ask_for(alice, path_of(harbour, "prompts"), ASKED, "failed")["error"]
    assert failed == {
        "code": "mcp_sign_in_needed",
        "message": "harbour: The user has to sign in to the server.",
    }
    assert not File.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "ask_tide"}, "arguments.place"),
        ({"name": "ask_tide", "arguments": {"place": "Sole", "depth": "9"}}, "arguments.depth"),
    ],
)
def test_arguments_have_to_be_those_of_the_prompt(alice: User, body: Any, field: str) -> None:
    server = McpServer.objects.create(
        name="tides", transport="http", url="https://t.example.com/mcp", status="ready"
    )
    place = {"name": "place", "title": "place", "description": "", "required": True}
    prompt = {"name": "ask_tide", "title": "", "description": "", "arguments": [place]}
    factories.create_mcp_catalog(server, prompts=[prompt])
    refused = factories.api_client(alice).post(path_of(server, "prompts"), body, format="json")
    assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert not McpRequest.objects.exists()


def test_what_no_worker_answers_in_its_time_has_failed(alice: User, runtime: Any) -> None:
    server = McpServer.objects.create(name="tides", transport="http", url="https://t.example.com/mcp")
    request = McpRequest.objects.begin(alice, server, kind="prompt", target="tide")
    McpRequest.objects.update(expires_at=timezone.now())
    answer_mcp_request(runtime, str(request.pk))
    shown = factories.api_client(alice).get(f"/api/mcp-requests/{request.pk}/").json()
    assert (shown["status"], shown["error"]["code"]) == ("failed", "mcp_server_unavailable")
    assert shown["error"]["message"] == "tides: There was no answer in time."
