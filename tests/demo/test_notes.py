"""The MCP server of the trial, as workers use it."""

import sys
from pathlib import Path

import pytest

from features.mcp.client.configuration import Caller, Configuration
from features.mcp.client.connections import Connections
from features.mcp.client.server_resources import fill_prompt, read_resource
from tests.instance import ROOT

pytestmark = pytest.mark.e2e


async def test_notes_are_written_with_approval_and_read_without_and_are_there_after_a_restart(
    tmp_path: Path,
) -> None:
    command = (sys.executable, str(ROOT / "demo" / "notes.py"), str(tmp_path / "notes.json"))
    server = Configuration("id", "1", "notes", command, "", (), ())

    async def show(*_: object) -> None:
        pass

    async def call(tool: str, **arguments: str) -> str:
        return (await connections.call(server, tool, arguments, Caller("key", show))).text

    connections = Connections()
    hints = {tool.name: tool.annotations for tool in (await connections.list_tools(server)).tools}
    assert {name: bool(hint and hint.read_only_hint) for name, hint in hints.items()} == {
        "list_notes": True,
        "add_note": False,
    }
    assert await call("list_notes") == "There are no notes yet."
    assert await call("add_note", text="The lamp\nneeds oil.") == "Written down. Notes so far: 1."
    read = await connections.ask(server, lambda client: read_resource(client, "notes://all"))
    assert (read.content, read.content_type) == (b"- The lamp needs oil.", "text/plain")
    asked = {"style": "as a rhyme"}
    prompt = await connections.ask(server, lambda client: fill_prompt(client, "tidy_up", asked))
    assert prompt.startswith("Rewrite these notes as a rhyme")
    assert prompt.endswith("- The lamp needs oil.")
    await connections.close()
    connections = Connections()
    assert await call("list_notes") == "- The lamp needs oil."
    await connections.close()
