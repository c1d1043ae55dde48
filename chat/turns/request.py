"""The request to start a turn: body of POST turns, of the websocket's `send`, and argument of start_turn()."""

import hashlib
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from msgspec import UNSET, Meta, UnsetType, json

from chat.models.turn import SentBeside
from chat.presenters.tools import choosable_tools, known_tools
from chat.protocol import server_tool_names as names
from chat.protocol.answer import doc
from chat.protocol.body import (
    INVISIBLE,
    Body,
    KnowledgeBases,
    SomeModels,
    Text,
    check_visible,
    has_visible_text,
    matches_none,
    rule,
)
from chat.protocol.errors import ApiError
from chat.transcript.answer_settings import OptionsBody, RunOptions

TOOLS: Final = sorted(choosable_tools())
# One of our tools, or one of an MCP server; a choice may also be all tools of a server.
_TOOL: Final[dict[str, Any]] = {
    "anyOf": [{"enum": TOOLS}, {"pattern": names.CHOICE, "maxLength": names.MAX_TOOL_NAME}]
}


def _check_tool(name: str) -> str:
    if name not in TOOLS and not names.is_server_tool(name):
        raise ApiError("tool_unknown")
    return name


def _check_tools(tools: list[str]) -> list[str]:
    known = known_tools(tools)
    if len(known) < len(set(tools)):
        raise ApiError("tool_unknown")
    return known


# The name of a tool. Whether the chat has the tool is checked when it is used.
Tool = Annotated[str, rule(_check_tool, _TOOL)]
# Names of tools that are known here; a repeated name counts once.
Tools = Annotated[list[Annotated[str, Meta(extra_json_schema=_TOOL)]], rule(_check_tools)]


MAX_ADDITIONAL_CONTEXT_CHARACTERS: Final = 8_000
# Programs describe themselves at length.
MAX_INSTRUCTIONS_CHARACTERS: Final = 100_000
MAX_CLIENT_MESSAGE_ID_CHARACTERS: Final = 100
MAX_FILES: Final = 50

_LONGEST_TEXT: Final = (
    f"At most {settings.MAX_MESSAGE_CHARACTERS} characters; a longer one is answered 413, with its `size`."
)
MessageText = Annotated[
    str, rule(partial(check_visible, code="message_empty"), matches_none(INVISIBLE)), doc(_LONGEST_TEXT)
]


class TurnBody(Body):
    keywords = {
        "not": {
            "anyOf": [
                {
                    "required": ["instructions", "additional_context"],
                    "properties": {
                        name: {"type": "string", "minLength": 1}
                        for name in ("instructions", "additional_context")
                    },
                },
                {
                    "properties": {"text": {"pattern": INVISIBLE}},
                    "not": {"required": ["files"], "properties": {"files": {"minItems": 1}}},
                },
            ]
        }
    }

    text: Annotated[str, doc(f"Has visible characters, unless files are sent. {_LONGEST_TEXT}")]
    parent: Annotated[
        UUID | UnsetType | None, doc("Default: the tip of the current branch. Null: the root.")
    ] = UNSET
    # UNSET: the agent's, or the default model.
    models: SomeModels | UnsetType = UNSET
    # check() checks their number.
    files: (
        Annotated[list[UUID], Meta(extra_json_schema={"maxItems": MAX_FILES, "uniqueItems": True})]
        | UnsetType
    ) = UNSET
    forced_tool: Tool | UnsetType | None = UNSET
    client_message_id: (
        Annotated[Text, Meta(max_length=MAX_CLIENT_MESSAGE_ID_CHARACTERS)] | UnsetType | None
    ) = UNSET
    additional_context: (
        Annotated[str, Meta(max_length=MAX_ADDITIONAL_CONTEXT_CHARACTERS)] | UnsetType | None
    ) = UNSET
    instructions: Annotated[
        Annotated[str, Meta(max_length=MAX_INSTRUCTIONS_CHARACTERS)] | UnsetType | None,
        doc("Like `additional_context`, but the model follows it. Not both."),
    ] = UNSET
    knowledge_bases: Annotated[
        KnowledgeBases | UnsetType | None, doc("If any is named, they alone are searched for this question.")
    ] = UNSET
    # Override those of the session and its agent; null as a value means the model's default.
    options: OptionsBody | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if not has_visible_text(self.text):
            self.text = ""

    def check(self, longest_text: int | None = None) -> None:
        """Raise ApiError for a request that no session accepts, once the session is known."""
        check_text(self.text, longest_text, may_be_empty=bool(self.files))
        if self.instructions and self.additional_context:
            raise ApiError("invalid_value", "Not beside additional_context.", field="instructions")
        files = self.files or []
        if len(files) > MAX_FILES or len(set(files)) != len(files):
            raise ApiError("invalid_value", f"Name up to {MAX_FILES} different files.", field="files")

    @property
    def beside(self) -> SentBeside:
        context, bases = self.instructions or self.additional_context or "", self.knowledge_bases or ()
        return SentBeside(context, bases, instructs=bool(self.instructions))

    @property
    def run_options(self) -> RunOptions:
        return self.options.members() if self.options else {}

    @property
    def stored_bytes(self) -> int:
        """The bytes that the request adds to the sender's storage before it is answered."""
        return len(self.text.encode()) + len(self.beside.additional_context.encode())

    def digest(self) -> str:
        """Return the SHA-256 of all but client_message_id: equal for a repeat, different for another request.

        Stored digests are compared with it: a member that was added later is left out where it has no value.
        """
        compared: dict[str, Any] = {
            "text": self.text,
            "parent": "tip" if self.parent is UNSET else self.parent,
            "models": self.models or None,
            "files": self.files or [],
            "forced_tool": self.forced_tool or None,
            "client_message_id": None,
            "additional_context": self.additional_context or "",
        }
        if self.instructions:
            compared["instructions"] = self.instructions
        if self.knowledge_bases:
            compared["knowledge_bases"] = self.knowledge_bases
        if self.run_options:
            compared["options"] = self.run_options
        return hashlib.sha256(json.encode(compared, order="sorted")).hexdigest()


def check_text(text: str, longest: int | None = None, *, may_be_empty: bool = False) -> None:
    """Raise ApiError for a text that no message may have: too long or, unless it may be empty, without visible characters."""
    most, size = longest or settings.MAX_MESSAGE_CHARACTERS, len(text)
    if not (may_be_empty or has_visible_text(text)):
        raise ApiError("message_empty", field="text")
    if size > most:
        message = f"The message has {size} characters; the limit is {most}."
        raise ApiError("message_too_long", message, field="text", limit=most, size=size)
