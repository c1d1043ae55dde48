"""A tool of a server as models are offered it."""

from typing import Any

import pytest

from chat.transcript.tool_annotations import DEFAULT_RULE
from llm_worker.tools.mcp_tool import McpTool

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
    configuration: Any = None
    tool = McpTool({"name": "s______", "tool": own, "description": described}, DEFAULT_RULE, configuration)
    assert tool.description == offered
