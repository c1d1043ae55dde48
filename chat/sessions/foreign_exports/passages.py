"""An answer whose export has it in parts: texts, reasoning and calls of tools, in their order. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from chat.sessions.foreign_exports.tree import Node

_BETWEEN = "\n\n"


class Passage(NamedTuple):
    """call: a member of format.Message."""

    text: str = ""
    reasoning: str = ""
    call: dict[str, Any] | None = None


def chain(node: Node, passages: Iterable[Passage]) -> list[Node]:
    """The message as a chain of nodes, so that each call stands behind the text before it. The last one has the message's key."""
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
