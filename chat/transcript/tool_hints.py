"""The hints of listed tools about the effects of their calls: which of them are believed. Pure.

A server may list other hints to each account, and other ones tomorrow. A hint that lets a tool be called with less asking than
before is kept as a claim (`claimed` of the tool), and is believed when staff confirm it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Tools = list[dict[str, Any]]

# The hints with which a tool asks most, those of the specification for a tool without any.
STRICTEST: Final = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}


def held(listed: Iterable[Mapping[str, Any]], before: Sequence[Mapping[str, Any]] | None) -> Tools:
    """Return the tools with the hints that are believed. before: as believed until now; None: this is the first list."""
    if before is None:
        return [dict(tool) for tool in listed]
    return [_limited(tool, _hints_by_name(before).get(tool["tool"], STRICTEST)) for tool in listed]


def limited(listed: Iterable[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> Tools:
    """Return the tools with hints no weaker than those of the same tools among `others`."""
    by_name = _hints_by_name(others)
    return [dict(tool) | _stricter(tool, by_name.get(tool["tool"], tool)) for tool in listed]


def confirmed(tools: Iterable[Mapping[str, Any]]) -> Tools:
    """Return the tools with the hints that their server claims."""
    return [
        {name: value for name, value in tool.items() if name != "claimed"} | tool.get("claimed", {})
        for tool in tools
    ]


def unconfirmed(tools: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the server's own names of the tools with claims."""
    return {str(tool["tool"]) for tool in tools if tool.get("claimed")}


def _hints_by_name(tools: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {tool["tool"]: tool for tool in tools}


def _limited(tool: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any]:
    believed = _stricter(tool, limit)
    claimed = {name: tool[name] for name in STRICTEST if tool[name] != believed[name]}
    return dict(tool) | believed | ({"claimed": claimed} if claimed else {})


def _stricter(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, bool]:
    """Return of each hint the value with which a tool asks more."""
    return {
        name: strictest if strictest in (one[name], other[name]) else not strictest
        for name, strictest in STRICTEST.items()
    }
