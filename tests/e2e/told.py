"""What the model was sent, in the compact notation of the tests, and what a reader was shown, block by block."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

Frame = dict[str, Any]
Screen = dict[tuple[Any, ...], list[Frame]]

JOINED = {"message_delta", "reasoning_delta", "report_delta"}


def letters(request: Any, agent_prompt: str = "You know the sea.") -> str:
    """S system, U user, A answer, TC calls, TR response, CA the agent's prompt, D dynamic context, R reminder."""
    return " ".join(_letter(message, agent_prompt) for message in request.messages)


def _letter(message: Frame, agent_prompt: str) -> str:
    text = message["content"] or ""
    match message["role"]:
        case "system":
            return "S"
        case "tool":
            return "TR"
        case "assistant":
            return "TC" if "tool_calls" in message else "A"
    if "<sent_at>" in text:
        return "U"
    if text == agent_prompt:
        return "CA"
    return "D" if "<additional_context" in text else "R"


def of_role(request: Any, role: str) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == role]


def calls_and_responses(request: Any) -> tuple[list[str], list[str]]:
    """Their ids; in a request they must be the same."""
    called = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
    return called, [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]


def screen(packets: Iterable[Frame]) -> Screen:
    """By place, deltas joined: live and rebuilt packets must give the same.

    Left out is how arguments were written, and whether a first call was there before it was known that there are several.
    """
    places: Screen = defaultdict(list)
    for packet in packets:
        obj, place = dict(packet["obj"]), packet["placement"]
        if obj["type"] == "tool_arguments_delta":
            continue
        shown = places[place["turn_index"], place["tab_index"], place["sub_turn_index"], place["model_index"]]
        if obj["type"] == "top_level_branching" and shown and shown[-1]["type"] == "tool_start":
            shown.insert(-1, obj)
        elif shown and obj["type"] in JOINED and shown[-1]["type"] == obj["type"]:
            shown[-1]["text"] += obj["text"]
        else:
            shown.append(obj)
    return dict(places)
