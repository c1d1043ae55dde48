"""Message: one message as the model sees it, with its token count. Pure.

Letters: S system prompt, SUM summary, U user text, A answer, TC tool calls, TR tool response, TI images that tools
returned, CA agent prompt, P project documents, D dynamic context, N files no longer shown, F attached files,
R reminder.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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
