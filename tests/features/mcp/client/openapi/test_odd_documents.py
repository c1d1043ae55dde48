"""Documents that leave out or mistake something: what can be called is offered, and what is left out is named."""

import json
from typing import Any

import pytest

from chat.models import McpServer
from chat.transcript.tool_arguments import first_violation
from features.mcp.client.openapi.api_document import DocumentRefused, read_document
from features.mcp.client.openapi.api_operations import Base, Operations, read_operations
from features.mcp.client.openapi.operation_http import build_request
from tests.features.mcp.client.openapi.test_api_documents import BASE, OK, body, document
from tests.features.mcp.worker_tasks import list_mcp_tools

JSON_PATCH = {"application/json-patch+json": {"schema": {"type": "array"}}}
PLAIN = {"application/json": {"schema": {"type": "object"}}}
NODE = {
    "type": "object",
    "properties": {"next": {"allOf": [{"$ref": "#/components/schemas/Node"}], "nullable": True}},
}


def read(paths: dict[str, Any], base: Base = BASE, **members: Any) -> Operations:
    return read_operations(read_document(json.dumps(document(paths, **members))), base)


def sent(contents: dict[str, Any]) -> Any:
    """The type that a body with these media types is sent as; the reason if there is none."""
    paths = {
        "/x": {"post": {"operationId": "x", "requestBody": {"required": True, "content": contents}, **OK}}
    }
    found = read({**paths, "/y": {"get": {"operationId": "y", **OK}}})
    return {tool["tool"]: tool["operation"]["content_type"] for tool in found.tools}.get(
        "x"
    ) or found.left_out["x"]


@pytest.mark.pure
@pytest.mark.parametrize("url", ["", "/", " ", "{root}"])
def test_operations_of_an_empty_address_are_at_the_top_of_the_host_of_the_document(url: str) -> None:
    servers = [{"url": url, "variables": {"root": {"default": ""}}}]
    [tool] = read({"/x": {"get": OK}}, servers=servers, version="3.0.3").tools
    assert build_request(tool["operation"], {}).url == "https://tides.example.com/x"


@pytest.mark.pure
@pytest.mark.parametrize(
    ("contents", "content_type"),
    [
        (JSON_PATCH | PLAIN | {"text/json": {}}, "application/json"),
        ({"text/json": {}} | JSON_PATCH, "text/json"),
        ({"text/json": {}}, "text/json"),
        ({"*/*": {}} | JSON_PATCH, "application/json-patch+json"),
        ({"application/x-www-form-urlencoded": {}, "*/*": {}}, "application/json"),
        ({"application/x-ndjson": {}}, "its body is of no type that is sent: application/x-ndjson"),
    ],
)
def test_a_body_is_sent_as_plain_json_where_the_server_takes_that_among_others(
    contents: dict[str, Any], content_type: str
) -> None:
    assert sent(contents) == content_type


@pytest.mark.pure
@pytest.mark.parametrize(
    "schema",
    [
        {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Node"}]},
        {"nullable": True, "$ref": "#/components/schemas/Node"},
        {"nullable": True, "oneOf": [{"type": "integer"}, {"$ref": "#/components/schemas/Node"}]},
        {"nullable": True, "type": "string", "enum": ["a"]},
        {"nullable": True, "enum": ["a"]},
        {"nullable": True, "type": "string"},
        {"nullable": True},
    ],
)
def test_what_may_be_null_accepts_null_with_a_type_and_without(schema: dict[str, Any]) -> None:
    holder = {"type": "object", "properties": {"a": schema}}
    found = read({"/x": {"post": body(holder)}}, version="3.0.3", components={"schemas": {"Node": NODE}})
    parameters = found.tools[0]["parameters"]
    assert first_violation({"body": {"a": None}}, parameters) is None
    strict = {name: value for name, value in schema.items() if name != "nullable"}
    holder["properties"] = {"a": strict}
    parameters = read({"/x": {"post": body(holder)}}, components={"schemas": {"Node": NODE}}).tools[0][
        "parameters"
    ]
    assert (first_violation({"body": {"a": None}}, parameters) is None) == (not strict)


@pytest.mark.pure
def test_where_a_schema_returns_to_itself_it_may_be_null_as_well() -> None:
    found = read(
        {"/x": {"post": body({"$ref": "#/components/schemas/Node"})}}, components={"schemas": {"Node": NODE}}
    )
    assert first_violation({"body": {"next": {"next": None}}}, found.tools[0]["parameters"]) is None


@pytest.mark.pure
def test_a_document_of_which_nothing_can_be_called_says_why() -> None:
    with pytest.raises(
        DocumentRefused, match=r"get_a_id: the parameters of its path are declared otherwise: id\.$"
    ):
        read({"/a/{id}": {"get": OK}})


def test_staff_read_which_operations_are_left_out_and_why(
    runtime: Any, transactional_db: None, settings: Any
) -> None:
    settings.URL_ALLOWED_HOSTS = frozenset({"127.0.0.1:9"})
    required, optional = body({"type": "object"}, required=True), body({"type": "object"})
    paths = {
        "/a/{id}": {"get": {"operationId": "undeclared", **OK}},
        "/b": {"get": {"operationId": "fine", **OK}, "delete": {"operationId": "remove", **optional}},
        "/c": {"get": {"operationId": "search", **required}},
        "/d": {"get": {"operationId": "find", **optional}},
    }
    text = json.dumps(document(paths, servers=[{"url": "http://127.0.0.1:9/"}]))
    server = McpServer.objects.create(name="api", transport="openapi", document=text)
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    offered = [tool["tool"] for tool in server.tools]
    assert (server.status, offered) == ("ready", ["find", "fine", "remove"])
    assert server.problem == (
        "Left out: undeclared (the parameters of its path are declared otherwise: id); search (a GET has no body); "
        "find (its body alone: a GET has none)."
    )
    # Staff who have chosen operations read of those.
    server.enabled_tools = ["fine", "search"]
    server.save()
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert server.problem == "Left out: search (a GET has no body)."
