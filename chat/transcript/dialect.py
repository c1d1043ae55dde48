"""The traits by which model servers differ, and the identifier of a model at its server. Pure."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"
NO_STREAM_OPTIONS: Final = "no_stream_options"
NO_TEMPERATURE: Final = "no_temperature"
NO_PARALLEL_TOOL_CALLS: Final = "no_parallel_tool_calls"
NO_TOOL_CHOICE: Final = "no_tool_choice"
NO_SYSTEM_ROLE: Final = "no_system_role"
UNTAGGED_THINKING: Final = "untagged_thinking"
SHORT_CALL_IDS: Final = "short_call_ids"
SERVER_CALL_IDS: Final = "server_call_ids"
ALTERNATING_ROLES: Final = "alternating_roles"
REASONING_CONTENT: Final = "reasoning_content"
TRAITS: Final = (
    MAX_COMPLETION_TOKENS,  # sent instead of max_tokens
    NO_STREAM_OPTIONS,
    NO_TEMPERATURE,
    NO_PARALLEL_TOOL_CALLS,
    NO_TOOL_CHOICE,
    NO_SYSTEM_ROLE,  # the system prompt is joined to the first question
    UNTAGGED_THINKING,  # it omits the tag before its reasoning
    SHORT_CALL_IDS,  # ids of calls have nine letters and digits
    SERVER_CALL_IDS,  # ids of calls go back as the server gave them, however long
    ALTERNATING_ROLES,  # as requires_alternating_roles of the model
    REASONING_CONTENT,  # each message of the assistant has one
)
# Learned of single servers: with the name of a tool and a digest of its schema, and with a number.
REFUSED_TOOL: Final = "refused_tool:"
MAX_TOOLS: Final = "max_tools:"


def refused_tools(traits: Iterable[str]) -> list[str]:
    """Return the tools that a server with these traits has refused: `name:digest`, sorted."""
    return sorted(trait.removeprefix(REFUSED_TOOL) for trait in traits if trait.startswith(REFUSED_TOOL))


def max_tools(traits: Iterable[str]) -> int | None:
    """Return how many tools a server with these traits takes; None: any number."""
    return min(
        (int(trait.removeprefix(MAX_TOOLS)) for trait in traits if trait.startswith(MAX_TOOLS)), default=None
    )


def source_of(name: str, base_url: str) -> str:
    """Return an identifier of a model at its server: a hash, which hides the address, since that may hold a key."""
    return sha256(f"{name}\n{base_url}".encode()).hexdigest()[:32]
