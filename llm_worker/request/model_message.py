"""Message: one message as the model sees it, with its token count, and its dict in the chat completions API. Pure.

Only this module builds the dicts of messages. Letters: S system prompt, SUM summary, U user text, A answer, TC tool calls, TR tool response, TI images that tools
returned, CA agent prompt, P project documents, D dynamic context, N files no longer shown, F attached files,
R reminder.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from chat.transcript.entries import Call, Image

Letter = Literal["S", "SUM", "U", "A", "TC", "TR", "TI", "CA", "P", "D", "N", "F", "R"]
# All other letters have the role "user".
ROLES: dict[Letter, str] = {"S": "system", "A": "assistant", "TC": "assistant", "TR": "tool"}

_SORTED = json.JSONEncoder(ensure_ascii=False, sort_keys=True)

# (text, its count in the default encoding if stored, else 0) -> tokens
TokenCounter = Callable[[str, int], int]


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model sees it.

    calls: of a TC, without their responses.  tool_call_id: of a TR.  members: of a TC; its server wants them back.
    tokens: with the server's overhead; ignored when messages are compared.  joined: the letters of the messages that
    were joined into this one, in order; empty if none.
    """

    letter: Letter
    text: str
    calls: tuple[Call, ...] = ()
    tool_call_id: str = ""
    images: tuple[Image, ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tokens: int = field(default=0, compare=False)
    joined: tuple[Letter, ...] = field(default=(), compare=False)

    @property
    def role(self) -> str:
        return ROLES.get(self.letter, "user")

    @property
    def letters(self) -> tuple[Letter, ...]:
        return self.joined or (self.letter,)


LanguageModelInput = Sequence[Message]


def total_tokens(messages: LanguageModelInput) -> int:
    return sum(message.tokens for message in messages)


def arguments_json(arguments: Mapping[str, Any]) -> str:
    """Encode the arguments with sorted keys.
    A database returns them in another order, which would change the cached prefix a turn later.
    """
    return _SORTED.encode(arguments)


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the text whose tokens are counted for a call, both when it is stored and when it is sent."""
    return f"{name} {arguments_json(arguments)}"


def memoize_counts(tokens_of: TokenCounter) -> TokenCounter:
    """Return a counter that counts each text once.
    It keeps the texts in memory: use it for a request, not for a process.
    """
    known: dict[str, int] = {}

    def count(text: str, stored: int) -> int:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = tokens_of(text, stored)
        return tokens

    return count


# The member under which most servers give reasoning, and want it back.
REASONING: Final = "reasoning_content"
# Of a message without reasoning, for servers that demand some: they refuse an empty text, too.
NO_REASONING: Final = " "


def to_api_messages(messages: LanguageModelInput) -> list[dict[str, Any]]:
    """Convert the messages, in the same order. The content is a plain string unless images are attached."""
    return [_wire(message) for message in messages]


def with_reasoning(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the API with a reasoning_content in each of the assistant."""
    return [
        {REASONING: message.get("reasoning") or NO_REASONING, **message}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def _wire(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.images:
        shown = [{"type": "image_url", "image_url": {"url": image.url}} for image in message.images]
        wire["content"] = [{"type": "text", "text": message.text}, *shown]
    if message.calls:
        # Not "" and not absent: some servers reject empty content beside tool calls, others missing content.
        wire["content"] = message.text or None
        members = dict(message.members)
        of_calls = members.pop("tool_calls", {})
        if thinking := members.pop("content", None):
            wire["content"] = [*thinking, *([{"type": "text", "text": message.text}] if message.text else [])]
        wire |= members
        wire["tool_calls"] = [{**of_calls.get(call.id, {}), **_wire_call(call)} for call in message.calls]
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _wire_call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_json(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
