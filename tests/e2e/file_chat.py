"""A chat with files, from outside: uploads them, asks numbered questions, and writes each request in letters.

S system prompt, SUM summary, CA agent's prompt or project's instructions, P project documents, D dynamic context,
N files no longer shown, F attached files, U user message, A answer, TC tool calls, TR tool response, R reminder.
F, U and A have the number of their turn.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.client import Client, Frame, Socket
from tests.stack import Stack

LEAD = "Here are some documents provided for context, they may not all be relevant:\n"
NOTICE = "These files of earlier messages are not shown any more, but can be read by their id:"
SUMMARY = "They counted turn by turn, from 1 over 2, 3, 4 and 5 to the last number that was wanted, and left out none."
INSTRUCTIONS = "Speak of the sea."
AGENT_PROMPT = "Be brief."
ENDED = ("ready", "failed")
NUMBERED = re.compile(r"(Question|Answer) (\d+)\b")


def answers(body: dict[str, Any]) -> list[dict[str, Any]]:
    """`Answer 3` to `Question 3`."""
    texts = [text_of(message) for message in body["messages"] if message["role"] == "user"]
    asked = [match[2] for match in map(NUMBERED.match, texts) if match]
    return [{"text": f"Answer {asked[-1]}"}]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": name, "arguments": arguments}}


@dataclass
class FileChat:
    """One session, watched by one tab. numbers: of the questions, from 1."""

    stack: Stack
    client: Client
    socket: Socket
    session: Frame = field(default_factory=dict)
    number: int = 0

    async def open(self, **body: Any) -> None:
        """Go on in a new session."""
        self.session = await self.client.new_session(**body)
        self.number = 0
        await self.socket.subscribe(self.session["id"])

    async def project(self, *files: tuple[str, str], **fields: Any) -> str:
        body = {"name": "Tides", **fields}
        pk: str = (await self.client.call("POST", "projects/", json=body, status=201))["id"]
        for name, text in files:
            await self.upload(name, text, project=pk)
        return pk

    async def upload(self, name: str, content: str | bytes, **fields: str) -> Frame:
        """The file once its text is extracted, told by the socket."""
        data = content.encode() if isinstance(content, str) else content
        sent = {"files": {"file": (name, data)}, "data": fields}
        pk = (await self.client.call("POST", "files/", status=201, **sent))["id"]
        await self.socket.until(
            lambda: any(one["id"] == pk and one["status"] in ENDED for one in self.socket.of_type("file")),
            f"the end of {name}",
        )
        shape: Frame = await self.client.call("GET", f"files/{pk}/")
        return shape

    async def turn(self, *files: Frame, text: str = "", **body: Any) -> Frame:
        """Ask the next question with these files; returns the turn once it has ended."""
        self.number += 1
        attached = {"files": [one["id"] for one in files]} if files else {}
        asked = f"Question {self.number}{text}"
        turn = await self.client.ask(self.session, asked, **{"models": ["alpha"], **attached, **body})
        await self.socket.until(lambda: turn["turn"] in self.socket.stopped_turns, "overall_stop")
        return turn

    def request(self, number: int = -1, model: str | None = None) -> Any:
        """One of the recorded requests, of this model or of all."""
        received = [one for one in self.stack.upstream.requests if model in (None, one.body["model"])]
        return received[number]

    async def branch(self) -> list[Frame]:
        return await self.client.branch(self.session)


def text_of(message: Frame) -> str:
    content = message["content"] or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def letters(request: Any) -> str:
    """The messages of a request, in order. Files of messages are named `sent-{turn}…`; all others are the project's."""
    return " ".join(map(_letter, request.messages))


def _letter(message: Frame) -> str:
    text = text_of(message)
    match message["role"]:
        case "system":
            return "S"
        case "tool":
            return "TR"
        case "assistant" if message.get("tool_calls"):
            return "TC"
    if match := NUMBERED.match(text):
        return f"{'U' if match[1] == 'Question' else 'A'}{match[2]}"
    if text.startswith(LEAD):
        sent = re.match(r"sent-(\d+)", documents(message)[0]["title"])
        return f"F{sent[1]}" if sent else "P"
    starts = {
        NOTICE: "N", "<additional_context": "D", "# Knowledge bases": "D", INSTRUCTIONS: "CA", AGENT_PROMPT: "CA",
        "This summarises the beginning of our conversation": "SUM",
    }  # fmt: skip
    return next((letter for start, letter in starts.items() if text.startswith(start)), "R")


def message_of(request: Any, letter: str) -> Frame:
    """The only message with this letter."""
    [found] = [message for message in request.messages if _letter(message) == letter]
    return dict(found)


def documents(message: Frame) -> list[Frame]:
    """Those of a message of files, of a project, or of a tool's response."""
    text = text_of(message).removeprefix(LEAD)
    found: list[Frame] = json.loads(text)["documents"]
    return found


def all_documents(messages: Iterable[Frame]) -> list[tuple[int, str]]:
    """(number, title) of every document of a request, in order."""
    shown = [message for message in messages if '{"documents": ' in text_of(message)[:100]]
    return [(one["document"], one["title"]) for message in shown for one in documents(message)]


def tools_of(request: Any) -> list[str]:
    return [tool["function"]["name"] for tool in request.body.get("tools", ())]
