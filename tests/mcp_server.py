"""An MCP server of the SDK, as a process of its own: `python -m tests.mcp_server stdio` or `… http PORT`.

Its tools do what tests look at. JOURNAL names a file that calls which change something are written to.
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    ToolAnnotations,
)

from tests.dot import DOT

server = MCPServer("Tests")
READ_ONLY = ToolAnnotations(read_only_hint=True)


def journal(line: str) -> None:
    with Path(os.environ["JOURNAL"]).open("a") as file:
        file.write(f"{line}\n")


@server.tool(annotations=READ_ONLY)
def echo(text: str) -> str:
    """Says the text again."""
    return f"echo: {text}"


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool(annotations=READ_ONLY)
def dot() -> Image:
    """Draws a picture."""
    return Image(data=DOT, format="png")


@server.tool(annotations=READ_ONLY)
def fail() -> str:
    """Fails."""
    raise ValueError("the tide is out")


@server.tool(annotations=READ_ONLY)
def secret(name: str) -> str:
    """What an environment variable is for the server."""
    return os.environ.get(name, "not set")


@server.tool(annotations=READ_ONLY)
async def steps(context: Context) -> str:
    """Tells how far it is."""
    for step in range(3):
        await context.report_progress(step, 3, f"step {step}")
    return "done"


@server.tool()
async def write(text: str, context: Context) -> str:
    """Writes a line that stays."""
    meta = context.request_context.meta or {}
    journal(f"{text} {meta.get('turnwire/idempotency-key', 'no key')}")
    return "written"


@server.tool()
async def wait() -> str:
    """Waits until it is cancelled."""
    journal("waiting")
    try:
        await asyncio.Event().wait()
    finally:
        journal("cancelled")
    return ""


WHEN = {"type": "object", "properties": {"time": {"type": "string", "title": "When?"}}, "required": ["time"]}


@server.tool()
def book(place: str, context: Context) -> str | InputRequiredResult:
    """Books a table."""
    answer = (context.input_responses or {}).get("when")
    if not isinstance(answer, ElicitResult):
        asked = ElicitRequestFormParams(message=f"When at {place}?", requested_schema=WHEN)
        return InputRequiredResult(input_requests={"when": ElicitRequest(params=asked)})
    if answer.action != "accept" or answer.content is None:
        return f"not booked: {answer.action}"
    journal(f"{place} at {answer.content['time']}")
    return "booked"


@server.tool()
def pay(place: str, context: Context) -> str | InputRequiredResult:
    """Sends its user to a page."""
    answer = (context.input_responses or {}).get("paid")
    if not isinstance(answer, ElicitResult):
        asked = ElicitRequestURLParams(message=f"Pay for {place}.", url=f"https://pay.example.com/{place}")
        return InputRequiredResult(input_requests={"paid": ElicitRequest(params=asked)})
    return f"paid: {answer.action}"


@server.tool()
def crash() -> str:
    """Ends the server."""
    journal("crashing")
    os._exit(3)


@server.tool(annotations=READ_ONLY)
def flood(megabytes: int) -> str:
    """Says very much."""
    return "x" * megabytes * 1024 * 1024


@server.tool(annotations=READ_ONLY)
async def grow(context: Context) -> str:
    """Adds a tool to the server."""

    def grown() -> str:
        """A tool that was not there."""
        return "grown"

    server.add_tool(grown)
    await context.notify_tools_changed()
    return "there is another tool"


@server.resource("tests://notes/today.txt", name="notes")
def notes() -> str:
    """What was noted today."""
    return "Flut um neun"


@server.resource("tests://dot", name="dot", title="A dot", mime_type="image/png")
def drawn() -> bytes:
    return DOT


@server.resource("tests://broken", name="broken")
def broken() -> str:
    raise ValueError("the tide is out")


@server.prompt(title="Greeting")
def greet(name: str, language: str = "English") -> str:
    """Greets somebody."""
    return f"Greet {name} in {language}."


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
