"""Results and schemas in their normal form, generated: whatever one member is, the SDK takes the result."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp_types import (
    CallToolResult,
    GetPromptResult,
    InitializeResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
)
from mcp_types.methods import validate_server_result

from chat.transcript.tool_arguments import first_violation
from features.mcp.client.content import response_of
from features.mcp.client.result_forms import normal_result
from features.mcp.client.tool_schemas import normal_parameters
from tests.features.mcp.client.odd_answers import GOOD, RECEIPT

pytestmark = [pytest.mark.pure]

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.floats(-2, 2),
    st.text(max_size=4),
    st.sampled_from(["text", "image", "string", "data:image/png;base64,AA=="]),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
MEMBERS = [
    "type",
    "text",
    "data",
    "mimeType",
    "annotations",
    "resource",
    "uri",
    "name",
    "title",
    "description",
    "icons",
    "size",
    "_meta",
    "blob",
    "arguments",
    "required",
    "role",
    "content",
    "inputSchema",
    "outputSchema",
    "execution",
    "readOnlyHint",
]
OBJECTS = st.dictionaries(
    st.sampled_from(MEMBERS), JSON | st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=4), max_size=7
)
TOP = [
    "_meta",
    "isError",
    "structuredContent",
    "content",
    "tools",
    "nextCursor",
    "ttlMs",
    "cacheScope",
    "resultType",
    "capabilities",
    "serverInfo",
    "protocolVersion",
    "instructions",
    "messages",
    "contents",
    "prompts",
    "resources",
]
RESULTS = st.dictionaries(
    st.sampled_from(TOP), JSON | OBJECTS | st.lists(OBJECTS | JSON, max_size=3), max_size=8
)
KINDS: list[tuple[str, Any]] = [
    ("tools/list", ListToolsResult),
    ("prompts/list", ListPromptsResult),
    ("resources/list", ListResourcesResult),
    ("prompts/get", GetPromptResult),
    ("resources/read", ReadResourceResult),
    ("tools/call", CallToolResult),
    ("initialize", InitializeResult),
]
KEYWORDS = [
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "anyOf",
    "allOf",
    "additionalProperties",
    "additionalItems",
    "nullable",
    "description",
    "format",
    "pattern",
    "uniqueItems",
    "minLength",
    "$defs",
    "not",
    "prefixItems",
    "$schema",
]
SCHEMAS = st.recursive(
    JSON,
    lambda inner: st.dictionaries(
        st.sampled_from(KEYWORDS),
        st.one_of(
            inner, st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_size=5,
    ),
    max_leaves=8,
)


@given(RESULTS, st.sampled_from(KINDS), st.sampled_from(REVISIONS))
def test_any_object_is_a_result_of_any_request_in_any_revision(result, kind, revision):
    method, model = kind
    normal = normal_result({**result, "resultType": "complete"})
    with suppress(KeyError):  # the revision has no such request
        validate_server_result(method, revision, normal)
    model.model_validate(normal, by_name=False)


@given(st.lists(JSON | OBJECTS, max_size=3), st.lists(JSON | OBJECTS, max_size=3), RESULTS)
def test_a_text_beside_whatever_blocks_is_read(before, after, result):
    normal = normal_result({**result, "content": [*before, RECEIPT, *after]})
    read = response_of(CallToolResult.model_validate(normal, by_name=False))
    assert "receipt 4711" in read


@given(st.lists(JSON | OBJECTS, max_size=3), st.lists(JSON | OBJECTS, max_size=3))
def test_a_good_tool_beside_whatever_tools_is_offered_as_it_is(before, after):
    normal = normal_result({"tools": [*before, GOOD, *after]})
    tools = ListToolsResult.model_validate(normal, by_name=False).tools
    assert [tool.input_schema for tool in tools if tool.name == "good"] == [GOOD["inputSchema"]]


@given(SCHEMAS)
def test_any_schema_becomes_one_that_is_valid_and_stays_as_it_is_from_then_on(schema):
    normal = normal_parameters(schema)
    if normal is not None:
        Draft202012Validator.check_schema(normal)
        assert normal["type"] == "object"
        assert normal_parameters(normal) == normal


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 4, 3),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": False}, 3, 2),
        ({"type": "STRING", "nullable": True}, None, 1),
        ({"enum": ["a"], "nullable": True}, None, "b"),
        ({"allOf": [{"type": "object"}], "nullable": True}, None, 1),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": False}, ["a"], [1]),
        ({"type": ["integer", "mystery"]}, 1, "1"),
    ],
)  # fmt: skip
def test_what_older_drafts_say_holds_for_arguments(schema, accepted, refused):
    normal = normal_parameters({"properties": {"a": schema}})
    assert normal is not None
    assert first_violation({"a": accepted}, normal) is None
    assert first_violation({"a": refused}, normal) is not None
