"""An MCP server with which a trial shows what tools of one's own look like: `python demo/notes.py FILE`, over stdio.

Reading notes changes nothing and needs no approval; writing one asks the user. All notes are a resource, which a message may have
as a file, and a prompt has them rewritten.
"""

import json
import sys
from pathlib import Path
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

MAX_NOTES: Final = 100
MAX_CHARACTERS: Final = 1_000

server = MCPServer("Notes of the trial")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def list_notes() -> str:
    """List the notes, the newest last."""
    return "\n".join(f"- {note}" for note in _read()) or "There are no notes yet."


@server.tool(annotations=ToolAnnotations(destructive_hint=False))
def add_note(text: str) -> str:
    """Write a note down."""
    notes = [*_read(), " ".join(text.split())[:MAX_CHARACTERS]][-MAX_NOTES:]
    _file().write_text(json.dumps(notes, ensure_ascii=False), encoding="utf-8")
    return f"Written down. Notes so far: {len(notes)}."


@server.resource("notes://all", title="All notes", mime_type="text/plain")
def all_notes() -> str:
    """Return what was written down so far, as a file for a message."""
    return list_notes()


@server.prompt(title="Tidy up my notes")
def tidy_up(style: str) -> str:
    """Has the notes rewritten in a style, such as: as a list of things to do."""
    return f"Rewrite these notes {style}, without leaving anything out:\n\n{list_notes()}"


def _read() -> list[str]:
    try:
        return [str(note) for note in json.loads(_file().read_text(encoding="utf-8"))]
    except (OSError, ValueError):
        return []


def _file() -> Path:
    return Path(sys.argv[1])


if __name__ == "__main__":
    server.run("stdio")
