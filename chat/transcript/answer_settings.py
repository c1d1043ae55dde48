"""How turns are answered: settings of a session, options of a run, and the setup that an attempt answers with. Pure.

A new setting of sessions is a member of SessionSettings. It is stored, copied with forks, exported, and sent as a member of the session.

An option that is null means the model's own value, whatever the session or its agent says.
The schema of a response format is stored as text: everything that JSON allows in it, numbers of any size included,
survives the database unchanged.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from chat.protocol.answer import at_most, choice, doc
from chat.protocol.body import Body, Text, rule
from chat.protocol.errors import ApiError

MAX_PROMPT_CHARACTERS: Final = 100_000
MAX_REMINDER_CHARACTERS: Final = 10_000


class WhileAnswering(StrEnum):
    """What a new turn does when the tip of the branch is still being answered."""

    REJECT = "reject"
    ENQUEUE = "enqueue"
    INTERRUPT = "interrupt"


class SessionSettings(Struct, kw_only=True, omit_defaults=True):
    """The settings as they are stored. Members that a later version has stored are ignored.

    tools: in addition to the agent's.
    options: run options of turns that set no others; over the agent's. Null as a value: the model's own.
    knowledge_bases: the bases searched beside the agent's, in their order; one may have been deleted since.
    """

    while_answering: Annotated[str, choice(WhileAnswering)] = WhileAnswering.ENQUEUE.value
    tools: list[str] = []
    reminder: Annotated[str, at_most(MAX_REMINDER_CHARACTERS)] = ""
    prompt: Annotated[
        str,
        at_most(MAX_PROMPT_CHARACTERS),
        doc("Stands beside the agent's prompt or the project's instructions."),
    ] = ""
    options: Annotated[dict[str, Any], doc("As they were sent.")] = {}
    knowledge_bases: list[UUID] = []


def split_settings(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings among the fields of a session, and the other fields."""
    others = dict(fields)
    return {name: others.pop(name) for name in SessionSettings.__struct_fields__ if name in others}, others


RunOptions = Mapping[str, Any]

MOST_TEMPERATURE: Final = 2
MAX_STOPS: Final = 4
MAX_STOP_CHARACTERS: Final = 200
REASONING_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
RESPONSE_FORMATS: Final = ("text", "json_object", "json_schema")
MAX_SCHEMA_CHARACTERS: Final = 32_000
MOST_SEED: Final = 2**63 - 1
MOST_OUTPUT_TOKENS: Final = 2**31 - 1
_NAME: Final = r"^[a-zA-Z0-9_-]{1,64}$"
# Options of the answer to the user; the loops of agent tools inside a run do not use them.
_OF_THE_ANSWER: Final = frozenset({"stop", "response_format"})
# Sent in another way: the output limit under the name that the server knows, the other option only with tools.
_SENT_OTHERWISE: Final = frozenset({"max_output_tokens", "parallel_tool_calls"})


def _schema_text(schema: dict[str, Any]) -> str:
    """Return a JSON Schema as it is stored: as text. The model server validates its content."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise ApiError("invalid_value", f"At most {MAX_SCHEMA_CHARACTERS} characters.")
    return text


class NamedSchema(Body, kw_only=True):
    name: Annotated[str, Meta(pattern=_NAME)]
    description: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    strict: bool | UnsetType | None = UNSET
    schema: Annotated[
        dict[str, Any], rule(_schema_text), Meta(description=f"At most {MAX_SCHEMA_CHARACTERS} characters.")
    ]


class ResponseFormat(Body):
    """The format of answers. `json_schema` is required with the type of this name, and refused with any other."""

    keywords = {
        "if": {"properties": {"type": {"enum": ["json_schema"]}}},
        "then": {"required": ["json_schema"]},
        "else": {"properties": {"json_schema": False}},
    }

    type: Annotated[str, choice(RESPONSE_FORMATS)]
    json_schema: NamedSchema | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "json_schema") != bool(self.json_schema):
            raise ApiError("unknown_field" if self.json_schema else "field_required", field="json_schema")


# No stop text counts as no value.
_Stop = Annotated[
    list[Annotated[Text, Meta(max_length=MAX_STOP_CHARACTERS)]],
    Meta(max_length=MAX_STOPS),
    rule(lambda texts: texts or None),
]


class OptionsBody(Body):
    temperature: Annotated[float, Meta(ge=0, le=MOST_TEMPERATURE)] | UnsetType | None = UNSET
    top_p: Annotated[float, Meta(ge=0, le=1)] | UnsetType | None = UNSET
    max_output_tokens: Annotated[int, Meta(ge=1, le=MOST_OUTPUT_TOKENS)] | UnsetType | None = UNSET
    stop: _Stop | UnsetType | None = UNSET
    seed: Annotated[int, Meta(ge=-MOST_SEED - 1, le=MOST_SEED)] | UnsetType | None = UNSET
    reasoning_effort: Annotated[str, choice(REASONING_EFFORTS)] | UnsetType | None = UNSET
    response_format: ResponseFormat | UnsetType | None = UNSET
    parallel_tool_calls: bool | UnsetType | None = UNSET


OPTION_NAMES: Final = OptionsBody.__struct_fields__


def merge_options(*layers: RunOptions) -> dict[str, Any]:
    """Merge options, later layers over earlier ones. None in a layer restores the model's own value."""
    merged = {name: value for layer in layers for name, value in layer.items()}
    return {name: value for name, value in merged.items() if value is not None}


def inner_options(options: RunOptions) -> dict[str, Any]:
    """Return the options that apply to the loops of agent tools."""
    return {name: value for name, value in options.items() if name not in _OF_THE_ANSWER}


def asks_for_json(options: RunOptions) -> bool:
    return bool(options.get("response_format", {}).get("type", "text") != "text")


def present_options(options: RunOptions) -> dict[str, Any]:
    """Return options as clients send and read them, and as model servers take them."""
    shown = dict(options)
    form = shown.get("response_format")
    if form and "json_schema" in form:
        described = form["json_schema"]
        shown["response_format"] = {
            **form,
            "json_schema": {**described, "schema": json.loads(described["schema"])},
        }
    return shown


def api_members(options: RunOptions, *, has_tools: bool) -> dict[str, Any]:
    """Return members of a chat completion request, without the output limit, which is in Model.max_output_tokens."""
    shown = present_options(options)
    members = {name: value for name, value in shown.items() if name not in _SENT_OTHERWISE}
    if has_tools and "parallel_tool_calls" in shown:
        members["parallel_tool_calls"] = shown["parallel_tool_calls"]
    return members


@dataclass(frozen=True)
class AnswerSetup:
    """The setup of an attempt.

    prompts: everything that is the same in all requests of this agent on this model (the texts of its prompts, the
    schemas of its tools).  options: settings of this attempt alone.  Both are JSON objects.
    agent, agent_name: as they were then; None and empty without an agent.
    """

    prompts: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    agent: UUID | None = None
    agent_name: str = ""

    @cached_property
    def content(self) -> str:
        """The prompts as canonical JSON."""
        return canonical_json(self.prompts)

    @cached_property
    def version(self) -> str:
        """The digest of the content: equal for equal prompts, in every process and release."""
        return digest(self.content)


def canonical_json(value: Any) -> str:
    """Encode a value as JSON: equal values give the same text, with sorted keys and no white space."""
    return msgspec.json.encode(value, order="sorted").decode()


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
