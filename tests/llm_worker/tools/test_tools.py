"""Which tools there are, how a request names them, and what each answers."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from chat.protocol.tasks import TOOL_NAMES
from llm_worker.tools import TOOLS, select_tools
from llm_worker.tools.current_time import CurrentTime
from llm_worker.tools.schemas import schema_tokens, tool_schemas
from llm_worker.tools.tool import ToolFailed

pytestmark = pytest.mark.pure


@dataclass
class AtNoon:
    now: datetime = datetime(2026, 11, 22, 12, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({}, "Sunday, 2026-11-22 12:00:05 +0000 (UTC)"),
        ({"timezone": ""}, "Sunday, 2026-11-22 12:00:05 +0000 (UTC)"),
        ({"timezone": "Europe/Berlin"}, "Sunday, 2026-11-22 13:00:05 +0100 (Europe/Berlin)"),
        ({"timezone": " Asia/Kolkata "}, "Sunday, 2026-11-22 17:30:05 +0530 (Asia/Kolkata)"),
        ({"timezone": "Pacific/Auckland"}, "Monday, 2026-11-23 01:00:05 +1300 (Pacific/Auckland)"),
    ],
)
async def test_the_time_is_told(arguments: dict[str, Any], answer: str) -> None:
    outcome = await CurrentTime().run(arguments, AtNoon())
    assert (outcome.response, outcome.documents) == (answer, ())


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "../etc/passwd", "Europe", "/etc/localtime", "a\x00b", "x" * 5000]
)
async def test_a_place_without_a_time_zone_is_named(name: str) -> None:
    with pytest.raises(ToolFailed, match="There is no time zone"):
        await CurrentTime().run({"timezone": name}, AtNoon())


def test_the_web_knows_the_tools_by_name() -> None:
    assert set(TOOLS) == TOOL_NAMES


def test_tools_are_offered_by_name_and_only_those_that_are_there() -> None:
    assert [tool.name for tool in select_tools(["nothing", "current_time", "current_time"])] == [
        "current_time"
    ]
    assert select_tools([]) == []


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_tells_the_model_what_it_needs_to_know(tool: Any) -> None:
    assert tool.description.endswith(".")
    assert f"`{tool.name}`" in tool.guidance
    assert tool.parameters["type"] == "object"
    assert all("description" in schema for schema in tool.parameters["properties"].values())


def test_schemas_are_sorted_and_counted() -> None:
    tools = list(TOOLS.values())
    names = [schema["function"]["name"] for schema in tool_schemas(tools[::-1])]
    assert names == sorted(TOOLS)
    assert schema_tokens([]) == 0
    assert 20 < schema_tokens(tools) < 1000
