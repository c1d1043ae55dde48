"""Run options: settings that a turn sends to its model, as JSON objects with the members of OPTION_NAMES. Pure.

The schema of a response format is stored as text: everything that JSON allows in it, numbers of any size included,
survives the database unchanged.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

RunOptions = Mapping[str, Any]

OPTION_NAMES: Final = (
    "temperature", "top_p", "max_output_tokens", "stop", "seed", "reasoning_effort", "response_format",
    "parallel_tool_calls",
)  # fmt: skip
MOST_TEMPERATURE: Final = 2
MAX_STOPS: Final = 4
MAX_STOP_CHARACTERS: Final = 200
REASONING_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
RESPONSE_FORMATS: Final = ("text", "json_object", "json_schema")
MAX_SCHEMA_CHARACTERS: Final = 32_000
# Options of the answer to the user; the loops of agent tools inside a run do not use them.
_OF_THE_ANSWER: Final = frozenset({"stop", "response_format"})
# Sent in another way: the output limit under the name that the server knows, the other option only with tools.
_SENT_OTHERWISE: Final = frozenset({"max_output_tokens", "parallel_tool_calls"})


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
