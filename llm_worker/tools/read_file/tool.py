"""The read_file tool: reads a part of a file that the requests of a run do not show.

Offered to runs whose requests leave out a file or the project (llm_worker/loading/build_brief.py).
"""

from collections.abc import Mapping
from typing import Any, Final

from llm_worker.tools.read_file import CARD
from llm_worker.tools.tool import Tool, ToolContext, ToolResult

# A longer part is cut, and its metadata says where it ends: some 10,000 tokens.
MAX_CHARACTERS: Final = 40_000
DEFAULT_CHARACTERS: Final = 8_000


class ReadFile(Tool):
    name = CARD.name
    description = (
        "Reads a part of a file of this chat or its project that is not shown (any more), by the file's id."
    )
    guidance = (
        "Call `read_file` with the id of a file when you need what it says and it is not shown to you. Its metadata says "
        "from which character (`start`) to which (`end`) you have read, and how many there are (`total`): go on from "
        "`end` when you need more."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "The id of the file."},
            "start": {"type": "integer", "minimum": 0, "description": "The first character. Left out: 0."},
            "length": {
                "type": "integer",
                "minimum": 1,
                "description": f"How many characters, at most {MAX_CHARACTERS}. Left out: {DEFAULT_CHARACTERS}.",
            },
        },
        "required": ["file"],
    }
    searches = True

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        length = min(arguments.get("length", DEFAULT_CHARACTERS), MAX_CHARACTERS)
        part = await work.sources.read_file(
            arguments["file"].strip(), int(arguments.get("start", 0)), int(length)
        )
        return ToolResult(documents=(part,))


TOOL: Tool = ReadFile()
