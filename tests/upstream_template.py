"""What the chat templates of Mistral and Gemma refuse, for the scripted upstream. Pure."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

ALTERNATE = (
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
)


def refusal(messages: Sequence[Mapping[str, Any]]) -> str:
    """Why a template refuses these messages; empty if it does not."""
    talk = messages[1:] if messages and messages[0]["role"] == "system" else messages
    if any(message["role"] == "system" for message in talk):
        return "Only the first message may have the system role."
    if any(message["role"] == "assistant" and not _says(message) for message in talk):
        return "Assistant message must have either content or tool_calls, but not none."
    pairs = [(before["role"], after["role"]) for before, after in pairwise(talk)]
    if ("tool", "user") in pairs:
        return "Unexpected role 'user' after role 'tool'."
    if any(role == "tool" and before not in ("assistant", "tool") for before, role in pairs):
        return "Unexpected role 'tool'."
    # As in Mistral's template: calls and their responses do not count.
    counted = [message["role"] for message in talk if message["role"] == "user" or _answers(message)]
    expected = [("user", "assistant")[place % 2] for place in range(len(counted))]
    return "" if counted == expected and talk and talk[0]["role"] == "user" else ALTERNATE


def _says(message: Mapping[str, Any]) -> bool:
    return bool(message.get("content") or message.get("tool_calls"))


def _answers(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")
