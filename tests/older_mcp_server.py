"""An MCP server of revision 2025-11-25 over stdio, by hand: it asks its user in the middle of a call, and waits for the answer there.

`python -m tests.older_mcp_server`. JOURNAL names a file that bookings are written to.
"""

import json
import os
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORM = {"type": "object", "properties": {"time": {"type": "string", "title": "When?"}}, "required": ["time"]}
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}}
TOOLS = [
    {"name": "book", "description": "Books a table.", "inputSchema": PLACE},
    {"name": "pay", "description": "Sends its user to a page.", "inputSchema": PLACE},
]


# Calls that came while another waited for its answer.
later: deque[Mapping[str, Any]] = deque()


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(place: str) -> Mapping[str, Any]:
    params = {"mode": "form", "message": f"When at {place}?", "requestedSchema": FORM}
    send(id=f"ask {place}", method="elicitation/create", params=params)
    while "result" not in (received := json.loads(sys.stdin.readline())):
        later.append(received)
    answer: Mapping[str, Any] = received["result"]
    return answer


def book(place: str) -> str:
    answer = ask(place)
    if answer["action"] != "accept":
        return f"not booked: {answer['action']}"
    with Path(os.environ["JOURNAL"]).open("a") as file:
        file.write(f"{place} at {answer['content']['time']}\n")
    return "booked"


def pay(request: Any, place: str) -> None:
    """Its user has paid if the journal says so."""
    if f"paid {place}\n" in Path(os.environ["JOURNAL"]).read_text():
        send(id=request, result={"content": [{"type": "text", "text": "paid: accept"}]})
        return
    asked = {
        "mode": "url", "elicitationId": f"{place} {request}", "message": f"Pay for {place}.",
        "url": f"https://pay.example.com/{place}",
    }  # fmt: skip
    send(id=request, error={"code": -32042, "message": "Pay first.", "data": {"elicitations": [asked]}})


def result_of(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    match request["method"]:
        case "initialize":
            information = {"name": "older", "version": "1"}
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": information,
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            text = book(request["params"]["arguments"]["place"])
            return {"content": [{"type": "text", "text": text}]}
    return None


def handle(received: Mapping[str, Any]) -> None:
    if "id" not in received or "method" not in received:
        return
    if received.get("params", {}).get("name") == "pay":
        pay(received["id"], received["params"]["arguments"]["place"])
        return
    result = result_of(received)
    if result is None:
        send(id=received["id"], error={"code": -32601, "message": "Method not found"})
    else:
        send(id=received["id"], result=result)


for line in sys.stdin:
    handle(json.loads(line))
    while later:
        handle(later.popleft())
