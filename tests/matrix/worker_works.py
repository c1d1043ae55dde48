"""What one call of a model makes a worker do, as much as its limits allow, for every tool that the product has. New tools join by themselves."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from features.mcp.client.configuration import MAX_MESSAGE_BYTES
from llm_worker.tools.ask_user.tool import MAX_OPTIONS, MAX_QUESTIONS
from llm_worker.tools.knowledge_base_search.tool import TOOL as SEARCH_BASES
from llm_worker.tools.registry import PROJECT_TOOLS, TOOLS
from tests.api_server import ApiServer
from tests.matrix.largest_inputs import MOST_CHARACTERS, WORDS, largest
from tests.search_server import SearchServer
from tests.stack import ROOT

PARAGRAPHS: Final = 5_000
RESULTS: Final = 2_000
# Twice: as text, and as a structure.
FLOOD_MEGABYTES: Final = 1
# Of calls whose arguments would be refused if each were as large as it may be.
_QUESTIONS: Final = [
    {"name": f"q{n}", "question": WORDS * 20, "type": "choice", "options": [f"{n} {WORDS}" for n in range(MAX_OPTIONS)]}
    for n in range(MAX_QUESTIONS)
]  # fmt: skip


class Work(NamedTuple):
    """A call, by the name for models. end: its status; of `refused` its user does not answer the question that it asks."""

    tool: str
    arguments: Mapping[str, Any]
    end: str = "completed"

    @property
    def step(self) -> dict[str, Any]:
        return {"call": {"name": self.tool, "arguments": self.arguments}}


def works(ids: Mapping[str, str], page: str) -> Iterator[Work]:
    """ids: of a base, a project and its file. page: the address of a long one."""
    given: dict[str, dict[str, Any]] = {
        "knowledge_base_search": {"knowledge_base": ids["knowledge_base"]},
        "read_file": {"file": ids["file"], "start": 0},
        "open_url": {"url": page, "start": 0},
        "ask_user": {"questions": _QUESTIONS},
        "current_time": {"timezone": "Europe/Berlin"},
    }
    for tool in (*TOOLS.values(), *PROJECT_TOOLS, SEARCH_BASES):
        arguments = largest(tool.parameters, ids) | given.get(tool.name, {})
        yield Work(tool.name, arguments, end="refused" if tool.name == "ask_user" else "completed")
    yield Work("tests__flood", {"megabytes": FLOOD_MEGABYTES})
    yield Work("tests__write", {"text": (WORDS * MOST_CHARACTERS)[:MOST_CHARACTERS]})
    yield Work("odd__blocks", {}, end="failed")
    yield Work("odd__nested", {}, end="failed")
    yield Work("api__flood", {})


def servers(mcp_port: int, api: ApiServer, folder: Path) -> list[dict[str, Any]]:
    """The tools that staff enter: of each kind of server one."""
    script = folder / "odd.json"
    script.write_text(json.dumps({"tools": _ODD_TOOLS, "results": _odd_results()}))
    command = [sys.executable, "-S", str(ROOT / "tests/odd_mcp_server.py"), str(script)]
    return [
        {"name": "tests", "transport": "http", "url": f"http://127.0.0.1:{mcp_port}/mcp"},
        {"name": "odd", "transport": "stdio", "command": command},
        {"name": "api", "transport": "openapi", "url": f"{api.url}/openapi.json", "approval": "never"},
    ]


_ODD_TOOLS: Final = [
    {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    for name in ("blocks", "nested")
]


def _odd_results() -> dict[str, Any]:
    """Answers just below the limit of a message, of very many values, and of one long list."""
    room = MAX_MESSAGE_BYTES - 1_000
    return {
        "blocks": {"content": [{}] * (room // 4)},
        "nested": {"content": [], "structuredContent": {"rows": [[0]] * (room // 5)}},
    }


def publish(searching: SearchServer) -> str:
    """Let searches find as much as one may, and a page be as long. Returns the address of the page."""
    found = [
        {"title": f"{n} {WORDS}", "url": f"https://example.com/{n}", "content": WORDS * 20} for n in range(RESULTS)
    ]  # fmt: skip
    searching.find(*found)
    paragraphs = "".join(f"<p>{n} {WORDS * 8}</p><div><span>{n}</span></div>" for n in range(PARAGRAPHS))
    return searching.publish("long", f"<html><body><article>{paragraphs}</article></body></html>")
