"""What is kept of the answers of MCP servers."""

import math
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from llm_worker.mcp.content import MAX_CHARACTERS, response_of, structured_of

pytestmark = pytest.mark.pure


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, None),
        ({}, {}),
        ({"sum": 3, "parts": [1, None]}, {"sum": 3, "parts": [1, None]}),
        ({"text": "a\x00b\ud800"}, {"text": "a\ufffdb\ufffd"}),
        ({"mean": math.nan}, None),
        ({"text": "x" * MAX_CHARACTERS}, None),
        (nested(500), None),
    ],
    ids=["none", "empty", "an object", "what Postgres refuses", "no number", "too long", "too deep"],
)
def test_structured_content_is_kept_for_clients_if_it_can_be_stored(sent, kept):
    assert structured_of(CallToolResult.model_construct(content=[], structured_content=sent)) == kept


def test_structured_content_that_only_wraps_the_text_is_not_kept_twice():
    text = TextContent(text="echo: Ebbe")
    sent = CallToolResult(content=[text], structured_content={"result": "echo: Ebbe"})
    assert structured_of(sent) is None


def test_a_model_reads_structured_content_where_no_text_repeats_it():
    assert response_of(CallToolResult(content=[], structured_content={"sum": 3})) == '{"sum": 3}'
