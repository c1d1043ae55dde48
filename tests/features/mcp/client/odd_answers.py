"""Tools and results as servers write them that read the protocol loosely."""

from base64 import b64encode, urlsafe_b64encode
from typing import Any, Final

from tests.dot import DOT

GOOD: Final = {
    "name": "good",
    "description": "Does good.",
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
}
ANY: Final = {"type": "object"}
PNG: Final = b64encode(DOT).decode()


def dot() -> list[str]:
    """The same image in the forms of base64 that servers send."""
    return [
        PNG,
        "\n".join(PNG[at : at + 20] for at in range(0, len(PNG), 20)),
        f"data:image/png;base64,{PNG}",
        PNG.rstrip("="),
        urlsafe_b64encode(DOT).decode(),
    ]


def bad(**members: Any) -> dict[str, Any]:
    return {"name": "bad", **members}


# By case: the tool, its schema as it is offered (None: it is not), and the names that are left out.
LISTS: Final[dict[str, tuple[Any, Any, set[str]]]] = {
    "no schema": (bad(description="No schema."), ANY, set()),
    "null as schema": (bad(inputSchema=None), ANY, set()),
    "an empty schema": (bad(inputSchema={}), ANY, set()),
    "no type": (
        bad(inputSchema={"properties": {"a": {"type": "string"}}}),
        {"properties": {"a": {"type": "string"}}, "type": "object"},
        set(),
    ),
    "a list of types": (bad(inputSchema={"type": ["object", "null"], "properties": {}}), {**ANY, "properties": {}}, set()),
    "bounds of draft 4": (
        bad(
            inputSchema={
                "$schema": "http://json-schema.org/draft-04/schema#",
                "type": "object",
                "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
            }
        ),
        {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}},
        set(),
    ),
    "properties of draft 3": (
        bad(inputSchema={"type": "object", "properties": {"n": {"type": "any", "required": True}, "m": "string"}}),
        {"type": "object", "properties": {"n": {}, "m": {}}, "required": ["n"]},
        set(),
    ),
    "an output schema of an array": (bad(inputSchema=ANY, outputSchema={"type": "array"}), ANY, set()),
    "an output schema without a type": (bad(inputSchema=ANY, outputSchema={"description": "free"}), ANY, set()),
    "a hint that is a text": (bad(inputSchema=ANY, annotations={"readOnlyHint": "maybe"}), ANY, set()),
    "hints that are a list": (bad(inputSchema=ANY, annotations=["read-only"]), ANY, set()),
    "an icon without an address": (bad(inputSchema=ANY, icons=[{"mimeType": "image/png"}]), ANY, set()),
    "a description that is none": (bad(inputSchema=ANY, description=["x"], title=5, _meta=5, execution="x"), ANY, set()),
    "the schema of a text": (bad(inputSchema={"type": "string"}), None, {"bad"}),
    "no name": ({"description": "nameless", "inputSchema": ANY}, None, {"a tool without a name"}),
    "no object": ("bad", None, {"a tool without a name"}),
}  # fmt: skip

RECEIPT: Final = {"type": "text", "text": "receipt 4711"}
STRUCTURED: Final = {"receipt": 4711}
# By case: the result, and what the model reads of it.
RESULTS: Final[dict[str, tuple[Any, str]]] = {
    "a block of an unknown type": (
        {"content": [RECEIPT, {"type": "widget", "html": "<b>x</b>"}]},
        'receipt 4711\n\n{"type": "widget", "html": "<b>x</b>"}',
    ),
    "null": ({"content": None, "structuredContent": STRUCTURED}, '{"receipt": 4711}'),
    "no content": ({"structuredContent": STRUCTURED}, '{"receipt": 4711}'),
    "a text": ({"content": "receipt 4711"}, "receipt 4711"),
    "one block": ({"content": RECEIPT}, "receipt 4711"),
    "a block without text": ({"content": [{"type": "text", "text": None}, RECEIPT]}, "receipt 4711"),
    "a number as text": ({"content": [{"type": "text", "text": 4711}]}, "4711"),
    "null as isError": ({"content": [RECEIPT], "isError": None}, "receipt 4711"),
    "structured content that is a list": ({"content": [{"type": "text", "text": "1 and 2"}], "structuredContent": [1, 2]}, "1 and 2"),
    "a resource without an address": ({"content": [RECEIPT, {"type": "resource", "resource": {"text": "the note"}}]}, "receipt 4711\n\nthe note"),
    "a link without a name": ({"content": [{"type": "resource_link", "uri": "notes://1"}]}, "[notes://1](notes://1)"),
    "a link without an address": ({"content": [{"type": "resource_link", "name": "x"}]}, '{"type": "resource_link", "name": "x"}'),
    "an odd priority": ({"content": [{**RECEIPT, "annotations": {"audience": ["user"], "priority": 5}}]}, "receipt 4711"),
    "an odd audience": ({"content": [{**RECEIPT, "annotations": {"audience": ["everyone"]}}]}, "receipt 4711"),
    "an image without a type": (
        {"content": [RECEIPT, {"type": "image", "data": PNG}]},
        "receipt 4711\n\n(An image of 70 bytes, unknown type.)",
    ),
    "an image without data": ({"content": [{"type": "image", "url": "x"}]}, '{"type": "image", "url": "x"}'),
    "an unknown kind of result": ({"resultType": "task", "content": [RECEIPT]}, "receipt 4711"),
    "nothing": ({}, ""),
}  # fmt: skip
SUMMARY: Final = {
    "content": [{"type": "text", "text": "Found 2 orders."}],
    "structuredContent": {"orders": [{"id": "A-17", "total": 12}, {"id": "A-18", "total": 30}]},
}
