"""The largest input that the documents allow for an operation or a command, as bytes that are sent without further work."""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tests.features.transfer.foreign_exports.examples import chatgpt
from tests.matrix.operations import BODIES, QUERIES, REFERENCES, Operation, resolve
from tests.matrix.test_socket import Case

# Where the documents name no limit.
MOST_CHARACTERS: Final = 100_000
MOST_CHARACTERS_OF_A_QUERY: Final = 2_000
MOST_CHARACTERS_OF_A_PROGRAM: Final = 400_000
MOST_BYTES_OF_A_BODY: Final = 8 * 1024 * 1024
MOST_ITEMS: Final = 100
MOST_CONVERSATIONS: Final = 500
# Queries that find less the more there are.
NARROWING: Final = {
    "cursor",
    "before",
    "after",
    "pinned",
    "archived",
    "project",
    "tag",
    "from",
    "to",
    "page",
    "if_empty",
}
BOUNDARY: Final = "b" * 32
# Such as the filled session has.
WORDS: Final = "message and more of it "


class Place(NamedTuple):
    """Where requests go, and as whom. ids: as in Belongings. exported: a session as a file. file_bytes: the most of a file."""

    address: str
    token: str
    ids: Mapping[str, str]
    exported: str
    file_bytes: int


def candidates(operation: Operation, place: Place) -> Iterator[bytes]:
    """Requests, the largest first: members and queries that are allowed alone may exclude each other."""
    path = operation.address(place.ids).partition("?")[0]
    targets = dict.fromkeys(f"{path}?{urlencode(query)}" for query in _queries(operation, place.ids))
    bodies = dict.fromkeys(_bodies(operation, place))
    for target, (content_type, body) in product(targets, bodies):
        yield _request(operation.method, target, place, content_type, body)


def command(case: Case, ids: Mapping[str, str]) -> str:
    example = case.example(dict(ids))
    return json.dumps(example | {"text": _text(MOST_CHARACTERS)} if "text" in example else example)


def _request(method: str, target: str, place: Place, content_type: str, body: bytes) -> bytes:
    scheme = "Bearer" if target.startswith("/v1/") else "Token"
    lines = [
        f"{method.upper()} {target} HTTP/1.1", f"Host: {place.address}", f"Authorization: {scheme} {place.token}",
        f"Content-Type: {content_type}", f"Content-Length: {len(body)}", "Connection: close",
    ]  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode() + body


def _queries(operation: Operation, ids: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    described = {
        one["name"]: one["schema"]
        for one in operation.described.get("parameters", ())
        if one["in"] == "query" and one["name"] not in NARROWING
    }
    least = QUERIES.get(operation.id, {})
    every = {name: _query_value(name, schema, ids) for name, schema in described.items()}
    yield every | least
    yield {name: value for name, value in every.items() if name in ("q", "search", "limit")} | least
    yield least


def _query_value(name: str, schema: Mapping[str, Any], ids: Mapping[str, str]) -> Any:
    if name in REFERENCES:
        return ids[REFERENCES[name]]
    return largest({"maxLength": MOST_CHARACTERS_OF_A_QUERY, **resolve(schema)}, ids, name)


def _bodies(operation: Operation, place: Place) -> Iterator[tuple[str, bytes]]:
    schema = operation.body_schema
    if operation.id == "sessions_import":
        yield "application/json", place.exported.encode()
    elif operation.id == "sessions_import_foreign":
        conversations = [chatgpt() | {"conversation_id": str(n)} for n in range(MOST_CONVERSATIONS)]
        yield "application/json", json.dumps(conversations).encode()
    elif operation.id == "openai_responses_create":
        yield "application/json", json.dumps({"input": _told_conversation(), "background": True}).encode()
    elif operation.is_form:
        yield f"multipart/form-data; boundary={BOUNDARY}", _form(place.file_bytes)
    elif schema is None:
        yield "application/json", b""
    else:
        for body in _objects(schema, BODIES.get(operation.id, {}), place.ids):
            yield "application/json", json.dumps(body).encode()


def _objects(
    schema: Mapping[str, Any], example: Mapping[str, Any], ids: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """With every member, then with those of each way that the schema names, then with those that must be there."""
    every: dict[str, Any] = largest(schema, ids)
    yield every
    yield every | example
    ways = [set(one.get("required", ())) for one in schema.get("oneOf", ())]
    for way in ways:
        yield {name: value for name, value in every.items() if name not in set().union(*ways) - way}
    required = {name: value for name, value in every.items() if name in schema.get("required", ())}
    yield required
    yield required | example


def _told_conversation() -> list[dict[str, str]]:
    """As long as a body may be."""
    roles = ("user", "assistant") * (MOST_BYTES_OF_A_BODY // MOST_CHARACTERS_OF_A_PROGRAM // 2)
    return [{"role": role, "content": _text(MOST_CHARACTERS_OF_A_PROGRAM)} for role in roles[:-1]]


def _form(size: int) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="tides.txt"\r\n\r\n'
    return head.encode() + _text(size).encode() + f"\r\n--{BOUNDARY}--\r\n".encode()


def largest(schema: Mapping[str, Any], ids: Mapping[str, str], name: str = "") -> Any:
    schema = resolve(schema)
    if "enum" in schema:
        return schema["enum"][-1]
    if "type" not in schema and (ways := schema.get("oneOf") or schema.get("anyOf")):
        return largest(ways[0], ids, name)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        members = schema.get("properties", {})
        return {member: largest(one, ids, member) for member, one in members.items()}
    if kind == "array":
        return _items(schema, ids, name)
    if kind == "string":
        return _string(schema, ids, name)
    return {"boolean": True}.get(str(kind), schema.get("maximum", 2**31 - 1))


def _items(schema: Mapping[str, Any], ids: Mapping[str, str], name: str) -> list[Any]:
    """As many as there may be, each another; of rows and of models there are few."""
    one = largest(schema.get("items", {}), ids, name)
    if name == "models":
        return ["quick", "deep"]
    if not isinstance(one, str) or one in ids.values() or "enum" in resolve(schema.get("items", {})):
        return [one]
    return [f"{n:03}{one[3:]}" for n in range(schema.get("maxItems", MOST_ITEMS))]


def _string(schema: Mapping[str, Any], ids: Mapping[str, str], name: str) -> str:
    if schema.get("format") == "uuid":
        return ids.get(REFERENCES.get(name, name), ids["session"])
    if schema.get("format") in ("date", "date-time"):
        return "2026-01-01"
    return _text(schema.get("maxLength", MOST_CHARACTERS))


def _text(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length].rstrip().ljust(length, ".")
