"""Conversations as callers tell them: questions, and what models answered, with the calls of the caller's tools. Pure."""

import re
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self
from uuid import UUID, uuid4

from django.conf import settings
from msgspec import json

from chat.models import ToolCall
from chat.models.tool_call import NO_OUTPUT, ToolCallStatus
from chat.protocol import strict_json
from chat.protocol.errors import ApiError
from chat.transcript.tokens import count_tokens
from chat.turns.request import MAX_INSTRUCTIONS_CHARACTERS
from features.openai.errors import inside

MAX_CALL_ID_CHARACTERS: Final = 200
# Of a message or an output that a program tells: it sends whole files.
MAX_TOLD_CHARACTERS: Final = settings.MAX_RUN_CHARACTERS
MAX_CALLS: Final = 128
MAX_INLINE_FILES: Final = 32
_DATA_URL: Final = re.compile(
    r"data:([a-z]+)/([a-z0-9.+-]+)(?:;[a-z0-9-]+=[^;,]*)*;base64,(.*)", re.DOTALL | re.IGNORECASE
)
APPROVALS_ALONE: Final = "Send approvals alone, and the next message when the answer has ended."
FUNCTION_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME_RULE: Final = "1 to 64 letters, digits, _ and -."


class InlineFile(NamedTuple):
    """A file whose content is in the request. is_picture: it was sent where only pictures are."""

    name: str
    content: bytes
    is_picture: bool


@dataclass
class ToldCall:
    """A call of the caller's tool. output: None until it is told."""

    id: str
    name: str
    arguments: dict[str, Any]
    output: str | None = None


@dataclass
class ToldRound:
    """The calls of one step of a model, and its text before them."""

    text_before: str
    calls: list[ToldCall] = field(default_factory=list)
    is_open: bool = True  # no output has been told, so that further calls belong to it


@dataclass
class Exchange:
    """A question and what was answered. answer: the text after the rounds."""

    question: str
    files: list[UUID]
    rounds: list[ToldRound] = field(default_factory=list)
    answer: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether nothing is answered yet."""
        return not (self.rounds or self.answer)

    @property
    def text(self) -> str:
        return "".join((*(each.text_before for each in self.rounds), self.answer))


class Conversation:
    """The exchanges, from what is told one after the other. Raises ApiError for what cannot follow.

    outputs: of calls that are not told themselves, by id.
    """

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.outputs: dict[str, str] = {}

    def ask(self, text: str, files: Iterable[UUID] = ()) -> None:
        """Add a user's message; one behind another belongs to the same question."""
        if self.exchanges and self.exchanges[-1].is_asked:
            question = self.exchanges[-1]
            question.question = "\n\n".join(filter(None, (question.question, text)))
            question.files = list(dict.fromkeys((*question.files, *files)))
            return
        self.check_outputs()
        self.exchanges.append(Exchange(text, list(dict.fromkeys(files))))

    def answer(self, text: str) -> None:
        """Add an assistant's text."""
        if text:
            exchange = self._last
            has_text = exchange.answer or any(step.text_before for step in exchange.rounds)
            exchange.answer += f"\n\n{text}" if has_text else text

    def call(self, call: ToldCall) -> None:
        """Add an assistant's call."""
        exchange = self._last
        if exchange.answer or not exchange.rounds or not exchange.rounds[-1].is_open:
            self.check_outputs()
            exchange.rounds.append(ToldRound(exchange.answer))
            exchange.answer = ""
        calls = exchange.rounds[-1].calls
        if len(calls) == MAX_CALLS:
            raise ApiError("invalid_value", f"At most {MAX_CALLS} calls of one step.")
        calls.append(call)

    def output(self, call_id: str, text: str) -> None:
        """Add the output of a call."""
        rounds = self.exchanges[-1].rounds if self.exchanges else []
        calls = rounds[-1].calls if rounds else ()
        if call := next((call for call in calls if call.id == call_id and call.output is None), None):
            call.output, rounds[-1].is_open = text, False
        elif self.exchanges or call_id in self.outputs:
            raise ApiError("invalid_value", f"There is no open call {call_id}.")
        else:
            self.outputs[call_id] = text

    def check_ended(self) -> None:
        """Check that the last message is to be answered."""
        self.check_outputs()
        if self.exchanges and self.exchanges[-1].answer:
            raise ApiError("invalid_value", "The last message is of a user.")

    def end(self) -> None:
        """Check that the last message is to be answered, and that the calls of all outputs are told."""
        self.check_ended()
        if self.exchanges and self.outputs:
            raise ApiError("invalid_value", "The calls of outputs are told before them.")

    @property
    def _last(self) -> Exchange:
        if not self.exchanges:
            raise ApiError("invalid_value", "The first message is of a user.", field="role")
        return self.exchanges[-1]

    def check_outputs(self) -> None:
        """Check that no call of the last step is without its output."""
        rounds = self.exchanges[-1].rounds if self.exchanges else []
        for call in rounds[-1].calls if rounds else ():
            if call.output is None:
                raise ApiError("invalid_value", f"No output is told of the call {call.id}.")


class ApprovalReply(NamedTuple):
    """An answer to an item that asks whether a call may run."""

    is_approved: bool
    reason: str


class ToldInput(NamedTuple):
    """What a request tells. instructions: of its system and developer messages.

    approvals: by the ids of the items that they answer; of what is told before them, nothing is read.
    requests: the ids of such items that are told.
    inline: files that are stored before the answer is asked for, by their ids in the conversation.
    """

    conversation: Conversation
    instructions: list[str]
    inline: dict[UUID, InlineFile]
    approvals: dict[str, ApprovalReply]
    requests: set[str]

    @classmethod
    def start(cls) -> Self:
        return cls(Conversation(), [], {}, {}, set())

    @property
    def are_requests_told(self) -> bool:
        """Whether the items that approvals answer are told, so that they need no other name of their response."""
        return self.approvals.keys() <= self.requests

    def approve(self, name: str, reply: ApprovalReply) -> None:
        """Add the answer to an item. Raises ApiError."""
        if name in self.approvals:
            raise ApiError("invalid_value", "Answer each request once.")
        self.approvals[name] = reply

    def end(self) -> None:
        """Check that the last message is to be answered, or that approvals alone are told. Raises ApiError."""
        if not self.approvals:
            self.conversation.check_ended()
        elif self.conversation.outputs or not self.are_requests_told:
            self.check_approvals_are_alone()

    def check_approvals_are_alone(self) -> None:
        if self.approvals and (self.conversation.exchanges or self.conversation.outputs or self.instructions):
            raise ApiError("invalid_value", APPROVALS_ALONE)

    def add_inline(self, url: Any, name: str = "") -> UUID:
        """Add the file of a data URL, once, and return its id. name: empty for a picture. Raises ApiError."""
        file = decode_file(url, name)
        for pk, other in self.inline.items():
            if other == file:
                return pk
        if len(self.inline) == MAX_INLINE_FILES:
            raise ApiError("invalid_value", f"At most {MAX_INLINE_FILES} files, others by file_id.")
        self.inline[pk := uuid4()] = file
        return pk

    def join_instructions(self, *before: str) -> str:
        """Return the instructions, behind those of the request itself. Raises ApiError if they are too long."""
        joined = "\n\n".join(filter(None, (*before, *self.instructions)))
        if len(joined) > MAX_INSTRUCTIONS_CHARACTERS:
            message = f"At most {MAX_INSTRUCTIONS_CHARACTERS} characters together."
            raise ApiError("invalid_value", message, field="instructions")
        return joined


def decode_file(url: Any, name: str) -> InlineFile:
    """Decode a data URL in base64 (RFC 2397). name: empty for a picture. Raises ApiError."""
    match = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if match is None or not (name or match[1].lower() == "image"):
        message = "A data URL in base64; other addresses are not requested. Upload long files, and name them by file_id."
        raise ApiError("invalid_value", message)
    try:
        content = b64decode(match[3], validate=True)
    except ValueError:
        raise ApiError("invalid_value", "The data is not in base64.") from None
    return InlineFile(name or f"image.{match[2]}", content, is_picture=not name)


def parse_call(call_id: Any, name: Any, arguments: Any) -> ToldCall:
    """Parse a call. arguments: a JSON object as text. Raises ApiError."""
    check_name("call_id", call_id, MAX_CALL_ID_CHARACTERS)
    if not isinstance(name, str) or not FUNCTION_NAME.fullmatch(name):
        raise ApiError("invalid_value", NAME_RULE, field="name")
    if not isinstance(arguments, str):
        raise ApiError("invalid_type", "Expected a JSON object as text.", field="arguments")
    with inside("arguments"):
        return ToldCall(call_id, name, strict_json.decode(arguments))


def add_calls(conversation: Conversation, calls: Any, *, no_arguments: str | None = None) -> None:
    """Add the calls of an assistant's message, each with its function in a member of its own. Raises ApiError.

    no_arguments: what stands for empty arguments; None: they are refused.
    """
    if not isinstance(calls, list | None):
        raise ApiError("invalid_type", "Expected an array.")
    for place, call in enumerate(calls or ()):
        with inside(place):
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                raise ApiError("invalid_value", "Expected a function.", field="function")
            arguments = function.get("arguments")
            if not arguments and no_arguments is not None:
                arguments = no_arguments
            conversation.call(parse_call(call.get("id"), function.get("name"), arguments))


def check_name(field_name: str, value: Any, longest: int) -> str:
    """Return the value. Raises ApiError unless it is a text of this length at most, and not empty."""
    if not isinstance(value, str):
        raise ApiError("invalid_type", "Expected a string.", field=field_name)
    if not 1 <= len(value) <= longest:
        raise ApiError("invalid_value", f"Between 1 and {longest} characters.", field=field_name)
    return value


def check_length(text: str) -> str:
    """Return the text of a message or an output. Raises ApiError if it is too long."""
    if len(text) > MAX_TOLD_CHARACTERS:
        raise ApiError("message_too_long", limit=MAX_TOLD_CHARACTERS, size=len(text))
    return text


def rows_of(rounds: Iterable[ToldRound]) -> list[ToolCall]:
    """Return the calls of ended rounds as rows without a run."""
    return [
        ToolCall(
            turn_number=number,
            tab_index=tab,
            tool_call_id=call.id,
            name=call.name,
            arguments=call.arguments,
            response=call.output or NO_OUTPUT,
            text_before=each.text_before,
            token_count=count_tokens(f"{call.name}{json.encode(call.arguments).decode()}"),
            status=ToolCallStatus.COMPLETED,
        )
        for number, each in enumerate(rounds)
        for tab, call in enumerate(each.calls)
    ]
