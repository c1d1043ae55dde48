"""Every operation of the REST API, from the URL configuration and the OpenAPI document, with what the matrix asks it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.permissions import SAFE_METHODS, AllowAny, IsAuthenticated

from chat.models import Session
from chat.sessions.portable.exporter import as_json
from features.mcp.api import McpServerPermission, McpServerRefreshPermission
from features.mcp.sign_in_api import McpUserPermission
from features.openai.authentication import HasToken
from features.providers.api import ProviderChangePermission, ProviderPermission
from tests.features.transfer.foreign_exports.examples import chatgpt
from tests.matrix.belongings import MARK, MCP_URI, TAG, Belongings
from tests.openapi import document
from web.rest.operators import MayReadContract
from web.rest.preferences import SystemPromptPermission

METHODS = ("get", "post", "put", "patch", "delete")

# Who may ask, by the permission class of a view. A new class needs a row here and in test_rest.py::allowed.
PUBLIC, OWN, STAFF, CONTRACT, STAFF_WRITES = "public", "own", "staff", "contract", "staff writes"
# What it names is everybody's, and each has something of their own there.
EVERYBODY = "everybody"
# Their owner, by a token in the header of OpenAI's clients.
BEARER = "bearer"
ACCESS: dict[Any, str] = {
    AllowAny: PUBLIC, IsAuthenticated: OWN, SystemPromptPermission: STAFF, MayReadContract: CONTRACT,
    ProviderPermission: STAFF, ProviderChangePermission: STAFF,
    McpServerPermission: STAFF_WRITES, McpServerRefreshPermission: STAFF_WRITES,
    McpUserPermission: EVERYBODY, HasToken: BEARER,
}  # fmt: skip

# Path parameters -> what of the owner is named; of single operations, where another row is the one that fits.
NAMED = {
    "session": "session", "message": "answer", "run": "run", "turn": "turn", "agent": "agent", "prompt": "prompt", "token": "token",
    "share": "share", "link": "link", "project": "project", "file": "file",
    "knowledge_base": "knowledge_base", "member": "member", "document": "document",
    "tool_call": "tool_call",
    "model": "agent_model", "response_id": "response",
    "conversation_id": "conversation", "item_id": "item",
    "provider": "provider", "server": "mcp_server", "mcp_request": "mcp_request", "webhook": "webhook",
}  # fmt: skip
NAMED_BY = {
    "regenerations_create": {"message": "question"},
    "withdrawal_create": {"message": "waiting_question"},
    "messages_update": {"message": "waiting_question"},
    "files_thumbnail": {"file": "picture"},
    "runs_continue": {"run": "cut_run"},
    "continuations_create": {"message": "cut_answer"},
    "runs_cancel": {"run": "live_run"},
    "turns_cancel": {"turn": "live_turn"},
    "trash_delete": {"session": "trashed_session"},
    "trash_restore": {"session": "trashed_session"},
}
# Members of bodies and of queries that name rows -> which of the user's.
REFERENCES = {
    "agent": "agent", "project": "project", "parent": "answer", "files": "file", "file": "file", "leaf": "answer",
    "before": "answer", "message": "answer", "run": "run", "ids": "session", "knowledge_bases": "knowledge_base",
}  # fmt: skip
# Bodies of which the description does not say enough: more members than the required ones, or an unnamed object.
BODIES: dict[str, dict[str, Any]] = {
    "feedback_write": {"is_positive": True},
    "sessions_update": {"title": "New"},
    "messages_update": {"text": "Changed"},
    "auth_token": {"username": "nobody", "password": "wrong"},
    "auth_password": {"old_password": "wrong", "new_password": "four tides a week"},
    "files_create": {"file": b"Two tides a day."},
    "providers_create": {"name": "another", "base_url": "https://api.example.com/v1"},
    "mcp_servers_create": {"name": "another", "transport": "http", "url": "https://mcp.example.com/mcp"},
    "mcp_resources_attach": {"uri": MCP_URI},
    "mcp_prompts_fill": {"name": MARK},
    "providers_models": {"models": [{"upstream_name": "large"}]},
    "tags_rename": {"tag": TAG, "name": "Renamed"},
    "openai_responses_create": {"background": True},
    # Nobody writes the answer here.
    "openai_chat_create": {"model": "nothing", "messages": [{"role": "user", "content": "Why?"}]},
    "webhooks_create": {"url": "https://hooks.example.com/"},
    "members_create": {"user": "mallory", "role": "reader"},
}
# Queries of operations that are refused without them.
QUERIES = {"tags_delete": {"tag": TAG}}
# Members of bodies that name rows, beyond the required ones.
NAMED_ROWS = {"documents_create": ("file",), "documents_replace": ("file",)}


class Operation(NamedTuple):
    """path: with {names}. described: its part of the OpenAPI document; empty if it is not described."""

    method: str
    path: str
    nouns: tuple[str, ...]
    view: Any
    described: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.described.get("operationId") or self.path)

    @property
    def is_safe(self) -> bool:
        return self.method.upper() in SAFE_METHODS

    @property
    def access(self) -> str:
        (permission,) = self.view.permission_classes
        assert permission in ACCESS, f"{permission.__name__}: add to ACCESS who may ask"
        return ACCESS[permission]

    @property
    def body_schema(self) -> dict[str, Any] | None:
        """None: the operation is described without a body."""
        for described in self._bodies.values():
            return resolve(described["schema"])
        return None

    @property
    def is_form(self) -> bool:
        """Whether its body has a file, which is bytes in the body that the matrix gives."""
        return next(iter(self._bodies), "") == "multipart/form-data"

    @property
    def is_binary(self) -> bool:
        return next(iter(self._bodies), "") == "application/octet-stream"

    @property
    def _bodies(self) -> dict[str, Any]:
        """By content type, that of the body which the matrix gives first."""
        content: dict[str, Any] = self.described.get("requestBody", {}).get("content", {})
        return content

    @property
    def query_names(self) -> list[str]:
        return [one["name"] for one in self.described.get("parameters", ()) if one["in"] == "query"]

    def address(self, ids: Mapping[str, str]) -> str:
        """ids: as in Belongings."""
        path = self.path
        for noun in self.nouns:
            named = NAMED_BY.get(self.id, {}).get(noun) or NAMED.get(noun)
            assert named, (
                f"{{{noun}}} in {self.path}: add to NAMED which row of the owner it is an example of"
            )
            path = path.replace(f"{{{noun}}}", ids[named])
        return f"{path}?{urlencode(QUERIES[self.id])}" if self.id in QUERIES else path

    def body(self, owned: Belongings) -> dict[str, Any] | None:
        if self.id == "sessions_import":
            return export_of(owned)
        if self.id == "sessions_import_foreign":
            return chatgpt()
        schema = self.body_schema
        if schema is None:
            return None
        rows = {
            name: owned.ids[REFERENCES[name]]
            for name in (*schema.get("required", ()), *NAMED_ROWS.get(self.id, ()))
            if resolve(schema["properties"][name]).get("format") == "uuid"
        }
        return {**required_members(schema), **rows, **BODIES.get(self.id, {})}


def export_of(owned: Belongings) -> dict[str, Any]:
    """Without the owner's words: what is imported is told to whoever imports it."""
    exported = b"".join(as_json(Session.with_trash.get(pk=owned.ids["session"]))).decode()
    body: dict[str, Any] = json.loads(exported.replace(MARK, "imported"))
    return body


@cache
def operations() -> list[Operation]:
    """All below /api/ and /v1/, described or not."""
    found = []
    for route, pattern in patterns(get_resolver()):
        view = getattr(pattern.callback, "view_class", None)
        if not (route.startswith(("api/", "v1/")) and view):
            continue
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
        described = document()["paths"].get(path, {})
        nouns = tuple(pattern.pattern.converters)
        found += [
            Operation(method, path, nouns, view, described.get(method, {}))
            for method in METHODS
            if hasattr(view, method)
        ]
    return found


def patterns(resolver: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for one in resolver.url_patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(one, path)
        elif isinstance(one, URLPattern):
            yield path, one


def resolve(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that a reference names."""
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return resolve(schema["allOf"][0])
    if "$ref" not in schema:
        return dict(schema)
    return resolve(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])


def required_members(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest object that the schema describes."""
    properties = schema.get("properties", {})
    return {name: example(properties[name]) for name in schema.get("required", ())}


def example(schema: Mapping[str, Any]) -> Any:
    schema = resolve(schema)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        return required_members(schema)
    values = {"string": "Something", "boolean": True, "integer": 1, "number": 1, "array": []}
    assert kind in values, f"no example of {schema}: add the body to BODIES"
    return values[kind]


class Reference(NamedTuple):
    """A member of a body, or a parameter of a query, that names a row. path: of members, from the outside."""

    operation: Operation
    path: tuple[str, ...]
    is_list: bool
    is_query: bool = False


def references() -> Iterator[Reference]:
    """Every one, found by its format; parameters of queries by their names."""
    for operation in operations():
        yield from (
            Reference(operation, path, is_list) for path, is_list in _uuids(operation.body_schema or {})
        )
        yield from (
            Reference(operation, (name,), is_list=False, is_query=True)
            for name in operation.query_names
            if name in REFERENCES
        )


def _uuids(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], bool]]:
    for name, member in schema.get("properties", {}).items():
        found = resolve(member)
        if found.get("format") == "uuid":
            yield (name,), False
        elif resolve(found.get("items", {})).get("format") == "uuid":
            yield (name,), True
        for path, is_list in _uuids(found):
            yield (name, *path), is_list
