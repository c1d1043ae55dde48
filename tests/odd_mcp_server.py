"""An MCP server over stdio, by hand, that says what a test decides: `python -m tests.odd_mcp_server SCRIPT`, a file with JSON.

SCRIPT: {"initialize": …, "tools": [pages of tools/list], "results": {tool: the result of its calls}}. Without a result for it, a tool
answers with one text, its name. A result that is a text is written as the whole answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

DEFAULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}
SCRIPT = json.loads(Path(sys.argv[1]).read_text())


def result_of(method: str, parameters: dict[str, Any]) -> Any:
    if method == "initialize":
        return SCRIPT.get("initialize", DEFAULT)
    if method == "tools/list":
        return {"tools": SCRIPT["tools"]}
    if method == "tools/call":
        name = parameters["name"]
        return SCRIPT.get("results", {}).get(name, {"content": [{"type": "text", "text": name}]})
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = result_of(message["method"], message.get("params") or {})
    error = {"error": {"code": -32601, "message": "Method not found"}}
    body = error if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
