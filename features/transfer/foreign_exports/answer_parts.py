"""Answers that an export has in parts: texts, reasoning and tool calls, in their order. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from features.transfer.foreign_exports.tree import Node

_BETWEEN = "\n\n"


class Passage(NamedTuple):
    """A part of an answer. call: an element of tool_calls of format.Message."""

    text: str = ""
    reasoning: str = ""
    call: dict[str, Any] | None = None


def chain(node: Node, passages: Iterable[Passage]) -> list[Node]:
    """Convert a message to a chain of nodes, in which each call follows the text before it.
    The last node has the key of the message."""
    groups: list[list[Passage]] = [[]]
    for passage in passages:
        if groups[-1] and groups[-1][-1].call and not passage.call:
            groups.append([])
        groups[-1].append(passage)
    nodes: list[Node] = []
    parent = node.parent
    for number, group in enumerate(groups, 1):
        key = node.key if number == len(groups) else f"{node.key}#{number}"
        nodes.append(
            replace(
                node,
                key=key,
                parent=parent,
                text=_BETWEEN.join(one.text for one in group if one.text),
                reasoning=_BETWEEN.join(one.reasoning for one in group if one.reasoning),
                calls=[one.call for one in group if one.call],
            )
        )
        parent = key
    return nodes
