"""The OpenAPI and AsyncAPI documents match the code."""

import re
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from typing import Any, get_args

import msgspec
import pytest
import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from chat.protocol import wire
from chat.turns.request import TurnBody
from config.asgi import websockets
from tests.matrix.operations import patterns
from tests.openapi import document
from web.rest.openapi import objects
from web.socket import commands
from web.socket.asyncapi import build_document

ASYNC = build_document()
SCHEMAS = ASYNC["components"]["schemas"]
MESSAGES = ASYNC["components"]["messages"]
# What the contract says is pushed or replied, besides the structs of chat/protocol/wire.py.
FRAMES = {
    "subscribed", "unsubscribed", "accepted", "stopping", "pong", "error", "turn_started", "run_continued", "overall_stop",
    "compression", "session", "resync", "queued", "heartbeat", "packet", "reset", "snapshot",
    "sessions_watched", "session_changed", "session_deleted", "sessions_resync", "project_changed", "project_deleted", "tag_changed",
    "file", "models_changed", "knowledge_base_changed", "knowledge_base_deleted",
}  # fmt: skip


def payload(message: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = message["payload"]
    return SCHEMAS[found["$ref"].rpartition("/")[2]] if "$ref" in found else found


def tags(operation: str) -> set[str]:
    names = [ref["$ref"].rpartition("/")[2] for ref in ASYNC["operations"][operation]["messages"]]
    return {payload(MESSAGES[name])["properties"]["type"]["const"] for name in names}


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for one in value.values():
            yield from references(one)
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


STRUCTS = [*get_args(wire.AnyPacketBody), wire.Packet, wire.Reset, wire.Snapshot]


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_every_packet_is_described_with_all_its_members(struct: Any) -> None:
    described = SCHEMAS[struct.__name__]["properties"]
    assert described["type"]["const"] == struct.__struct_config__.tag
    assert set(described) == {"type", *(field.encode_name for field in msgspec.structs.fields(struct))}


def test_every_obj_may_be_in_a_packet() -> None:
    names = {ref.rpartition("/")[2] for ref in references(SCHEMAS["Packet"]["properties"]["obj"])}
    assert names == {struct.__name__ for struct in get_args(wire.AnyPacketBody)}


def test_every_command_and_every_frame_is_described() -> None:
    assert tags("command") == set(commands.COMMANDS)
    assert tags("reply") | tags("push") | tags("push_of_the_list") | tags("push_of_files") == FRAMES


def test_send_takes_what_a_turn_takes() -> None:
    fields = set(TurnBody.__struct_fields__)
    assert set(payload(MESSAGES["send"])["properties"]) == fields | {
        "type",
        "id",
        "request_id",
        "session",
    }


def test_every_websocket_is_a_channel() -> None:
    routes = {f"/{route.pattern}" for route in websockets.routes if str(route.pattern)}
    assert {channel["address"] for channel in ASYNC["channels"].values()} == routes


def test_nothing_means_something_else_in_asyncapi_than_in_openapi() -> None:
    assert not [part for part in objects(ASYNC) if "discriminator" in part]


def test_every_reference_leads_somewhere() -> None:
    for reference in references(ASYNC):
        found = ASYNC
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_the_openapi_document_is_valid_and_made_without_a_warning() -> None:
    GENERATOR_STATS.reset()
    schema = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(schema)
    assert schema["openapi"].startswith("3.1")
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache


def test_generators_of_clients_find_a_type_for_every_body_and_list() -> None:
    """They make nothing of a list of nothing, and of an object that is described by alternatives as well."""
    schemas = document()["components"]["schemas"].items()
    for name, schema in schemas:
        assert not ("properties" in schema and {"anyOf", "oneOf"} & schema.keys()), name
        for part in objects(schema):
            assert "array" not in part.get("type", ()) or {"items", "prefixItems"} & part.keys(), (name, part)


def test_a_value_that_is_a_text_or_an_array_may_be_an_array() -> None:
    described = document()["components"]["schemas"]["OpenAIResponseBody"]["properties"]["input"]
    judge = Draft202012Validator(described)
    assert [judge.is_valid(value) for value in ("Why?", [], "\0", 1)] == [True, True, False, False]


def test_every_route_is_in_the_openapi_document() -> None:
    from django.urls import get_resolver

    schema = SchemaGenerator().get_schema(request=None, public=True)
    described = {path.strip("/") for path in schema["paths"]}
    routes = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", path).strip("/")
        for path, _ in patterns(get_resolver())
        if path.startswith(("api/", "v1/", "agui"))
    }
    unlisted = {"api", "api/asyncapi.yaml", "api/docs", "v1"}
    assert routes - unlisted == described


@pytest.mark.parametrize(("path", "kind"), [("/api/schema/", "openapi"), ("/api/asyncapi.yaml", "yaml")])
def test_both_are_served_to_anybody(db: None, path: str, kind: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    assert kind in response["Content-Type"]
    assert yaml.safe_load(response.content)["info"]["version"]


def test_the_docs_page_needs_nothing_inline_and_nothing_foreign(db: None) -> None:
    response = Client().get("/api/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "<style" not in page
    assert "<script>" not in page
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    assert "unsafe-inline" not in response["Content-Security-Policy"]
    for address in re.findall(r"(?:src|href)=\"([^\"]+)\"", page):
        with closing(Client().get(unescape(address))) as found:
            assert found.status_code == 200
