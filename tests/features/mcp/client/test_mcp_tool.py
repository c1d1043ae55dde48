"""A tool of a server as models are offered it."""

from types import SimpleNamespace
from typing import Any

import pytest

from chat.transcript.tools import DEFAULT_RULE
from features.mcp.client.mcp_tool import McpTool

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("own", "described", "offered"),
    [
        ("城市查询", "Finds cities.", "城市查询: Finds cities."),
        ("城市查询", "", "城市查询"),
        ("städte", "städte finds cities.", "städte finds cities."),
        ("get cities", "Finds cities.", "Finds cities."),
    ],
)
def test_a_tool_whose_name_cannot_be_offered_says_it_in_its_description(
    own: str, described: str, offered: str
) -> None:
    configuration: Any = SimpleNamespace(server="")
    effects = dict.fromkeys(("read_only", "destructive", "idempotent", "open_world"), False)
    listed = {"name": "s______", "tool": own, "description": described, "parameters": {}, **effects}
    tool = McpTool(listed, DEFAULT_RULE, configuration)
    assert tool.description == offered
