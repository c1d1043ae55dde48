"""The registry of tools, their schemas, and current_time."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import override_settings

from chat.presenters.tools import configured_tools
from llm_worker.tools.current_time.tool import CurrentTime
from llm_worker.tools.read_file.tool import TOOL as READ_FILE
from llm_worker.tools.registry import TOOLS, select_tools
from llm_worker.tools.search_project.tool import TOOL as SEARCH_PROJECT
from llm_worker.tools.tool import ToolFailed, schema_tokens, tool_schemas

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
async def test_current_time_returns_the_time_in_the_requested_zone(
    arguments: dict[str, Any], answer: str
) -> None:
    outcome = await CurrentTime().run(arguments, AtNoon())
    assert (outcome.response, outcome.documents) == (answer, ())


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "../etc/passwd", "Europe", "/etc/localtime", "a\x00b", "x" * 5000]
)
async def test_an_unknown_time_zone_is_named_in_the_error(name: str) -> None:
    with pytest.raises(ToolFailed, match="There is no time zone"):
        await CurrentTime().run({"timezone": name}, AtNoon())


@pytest.mark.parametrize("search", ["", "http://127.0.0.1:9"])
@pytest.mark.parametrize("opens", [True, False])
def test_the_page_offers_the_tools_that_the_worker_has(search: str, *, opens: bool) -> None:
    with override_settings(WEB_SEARCH_URL=search, OPEN_URL=opens):
        assert configured_tools() == {tool.name for tool in TOOLS.values() if tool.is_available()}
        assert ("web_search" in configured_tools(), "open_url" in configured_tools()) == (bool(search), opens)


def test_only_known_and_available_tools_are_offered() -> None:
    assert [tool.name for tool in select_tools(["nothing", "current_time", "current_time"])] == [
        "current_time"
    ]
    assert select_tools([]) == []


def test_tools_that_a_run_is_offered_by_what_it_has_cannot_be_chosen() -> None:
    assert select_tools([READ_FILE.name, SEARCH_PROJECT.name]) == []


@pytest.mark.parametrize("tool", [*TOOLS.values(), READ_FILE, SEARCH_PROJECT], ids=lambda tool: tool.name)
def test_every_tool_has_a_description_and_a_schema(tool: Any) -> None:
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
