"""Reduces model requests and packet streams to short forms that tests compare."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, get_args

from chat.protocol.wire import AnyPacketBody

Frame = dict[str, Any]
Blocks = dict[tuple[Any, ...], list[Frame]]

PASSING = {body.__struct_config__.tag for body in get_args(AnyPacketBody) if body.is_passing}
JOINED = {"message_delta", "reasoning_delta", "report_delta"}


def message_kinds(request: Any, agent_prompt: str = "You know the sea.") -> str:
    """The kind of each message, in order, separated by spaces.

    S system prompt, U user message, A answer, TC tool calls, TR tool response, CA the agent's prompt, D dynamic
    context, R reminder.
    """
    return " ".join(_message_kind(message, agent_prompt) for message in request.messages)


def _message_kind(message: Frame, agent_prompt: str) -> str:
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


def contents_of_role(request: Any, role: str) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == role]


def calls_and_responses(request: Any) -> tuple[list[str], list[str]]:
    """The ids of the tool calls and of the tool responses of a request; the two must be equal."""
    called = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
    return called, [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]


def blocks_by_placement(packets: Iterable[Frame]) -> Blocks:
    """The packet objects of each placement, with deltas joined. Live and rebuilt packets must give the same result.

    Two differences are removed: packets that pass, and whether the first of several calls came before the branching packet.
    """
    places: Blocks = defaultdict(list)
    for packet in packets:
        obj, place = dict(packet["obj"]), packet["placement"]
        if obj["type"] in PASSING:
            continue
        shown = places[place["turn_index"], place["tab_index"], place["sub_turn_index"], place["model_index"]]
        if obj["type"] == "top_level_branching" and shown and shown[-1]["type"] == "tool_start":
            shown.insert(-1, obj)
        elif shown and obj["type"] in JOINED and shown[-1]["type"] == obj["type"]:
            shown[-1]["text"] += obj["text"]
        else:
            shown.append(obj)
    return dict(places)
