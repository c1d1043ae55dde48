"""What is stored of the tools that a server lists."""

import pytest
from mcp_types import Tool, ToolAnnotations

from features.mcp.client import listing
from features.mcp.client.listing import stored_tools

pytestmark = pytest.mark.pure


def tool(name: str, **fields: object) -> Tool:
    return Tool.model_validate({"name": name, "inputSchema": {"type": "object"}, **fields})


def described(*tools: Tool) -> list[dict[str, object]]:
    return stored_tools("tests", list(map(listing.describe, tools)))[0]


def test_hints_that_are_left_out_have_the_defaults_of_the_specification_which_ask() -> None:
    silent, reading = described(tool("a"), tool("b", annotations=ToolAnnotations(read_only_hint=True)))
    hints = ("read_only", "destructive", "idempotent", "open_world")
    assert [silent[hint] for hint in hints] == [False, True, False, True]
    assert [reading[hint] for hint in hints] == [True, False, False, True]


@pytest.mark.parametrize(
    "refused",
    [
        tool("x" * 201),
        tool("a\0b"),
        tool("long", inputSchema={"type": "object", "title": "x" * 40_000}),
        tool("nul", inputSchema={"type": "object", "title": "\0"}),
        tool("nan", inputSchema={"type": "object", "default": float("nan")}),
    ],
    ids=["a long name", "a name that is not stored", "a long schema", "NUL", "NaN"],
)
def test_a_tool_that_cannot_be_stored_keeps_no_other_out(refused: Tool) -> None:
    assert [one["tool"] for one in described(refused, tool("good"))] == ["good"]


def test_a_schema_in_any_script_is_kept() -> None:
    schema = {"type": "object", "title": "潮 🌊", "description": "a literal \\u0000"}
    [kept] = described(tool("tides", inputSchema=schema))
    assert kept["parameters"] == schema


def test_so_many_schemas_are_stored_and_no_more() -> None:
    large = {"type": "object", "title": "x" * 30_000}
    found = described(*(tool(f"t{number:03}", inputSchema=large) for number in range(50)))
    assert 10 < len(found) < 20
