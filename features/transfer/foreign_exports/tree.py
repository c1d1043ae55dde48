"""Turns the messages of another product, or the parts of its answers, into the format of an exported session. Pure.

In other products, an answer may be a chain of messages (tool calls, their results, passages of text), a question may follow a
question, and an answer may come first. Here questions and answers alternate below one empty root.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import msgspec

from chat.sessions.portable import format as f
from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import Remark, Unreadable

# The text of the question of an answer that has none in the product, such as a greeting.
NO_QUESTION: Final = "…"
LEFT_OUT: Final = "Only questions have pictures: those of an answer are left out."
UNKNOWN_MODEL: Final = "unknown"
_PASSAGES: Final = "\n\n"
# The limit of all answers of a conversation, in bytes of JSON: answers repeat the messages that they share.
MAX_ANSWERS_BYTES: Final = 2 * f.MAX_BYTES


@dataclass(frozen=True, slots=True)
class Node:
    """A message of the other product. hidden: it is not visible there, and its replies are attached to its parent.

    calls, files, citations, feedback: members of format.Message; files of an answer are left out.
    output: the result of the latest call, if the message is one.
    """

    key: str
    parent: str | None
    role: Literal["user", "assistant", "hidden"]
    at: Path  # of the message in the conversation
    text: str = ""
    reasoning: str = ""
    sent_at: datetime | None = None
    model: str = ""
    output: str | None = None
    tool: str = ""  # the tool whose result it is
    error: str = ""
    calls: Sequence[dict[str, Any]] = ()
    files: Sequence[dict[str, Any]] = ()
    citations: Sequence[dict[str, Any]] = ()
    feedback: Mapping[str, Any] | None = None
    usage: Mapping[str, int | None] = field(default_factory=dict)


def span_of(
    nodes: Sequence[Node], created_at: datetime | None, updated_at: datetime | None, field: str
) -> tuple[datetime, datetime]:
    """Return when a conversation was begun and last changed, from its own times or those of its messages.

    field: the member for the time when it was begun. Raises Unreadable, with this member, if there is no time at all.
    """
    moments = [node.sent_at for node in nodes if node.sent_at]
    begun = created_at or min(moments, default=updated_at)
    if begun is None:
        raise Unreadable("field_required", "The conversation has no time.", (field,))
    return begun, updated_at or max(moments, default=begun)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of the other product. current: the key of a message on the branch that its user viewed last.

    source_id: its id in the product.
    """

    source_id: str
    title: str
    nodes: Sequence[Node]
    created_at: datetime
    updated_at: datetime
    current: str | None = None
    tags: Sequence[str] = ()


class Tree(NamedTuple):
    """A converted conversation. session: the JSON of format.Portable.  places: for each of its messages, the path in
    the other product's conversation.  remarks: about empty answers, and files of answers that are left out.
    """

    session: dict[str, Any]
    places: list[Path]
    remarks: list[Remark]


class _Step(NamedTuple):
    node: Node
    parent: int  # the number of the message above the chain
    chain: tuple[Node, ...]  # the messages of the answer that is not ended yet


def build(conversation: Conversation) -> Tree:
    """Convert a conversation. Raises Unreadable."""
    return _Builder(conversation).build()


class _Builder:
    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._by_key: dict[str, Node] = {}
        for node in conversation.nodes:
            if self._by_key.setdefault(node.key, node) is not node:
                raise Unreadable("invalid_value", "Another message has this id.", node.at)
        self._children: dict[str | None, list[Node]] = {}
        for node in conversation.nodes:
            above = node.parent if node.parent in self._by_key else None
            self._children.setdefault(above, []).append(node)
        self._messages: list[dict[str, Any]] = []
        self._places: list[Path] = []
        self._remarks: list[Remark] = []
        self._answers: dict[str, int] = {}  # by the key of the last message of the chain
        self._answer_counts: dict[int, int] = {}  # of each question
        self._sizes: dict[str, int] = {}
        self._answers_bytes = 0
        self._numbers: dict[str, int] = {}  # of the message in which a node is
        self._add(role="root", parent=None, sent_at=conversation.created_at, at=())

    def build(self) -> Tree:
        waiting = [_Step(node, 0, ()) for node in reversed(self._children.get(None, []))]
        while waiting:
            step = self._take(waiting.pop())
            below = self._children.get(step.node.key, [])
            waiting += [_Step(node, step.parent, step.chain) for node in reversed(below)]
            if not below and step.chain:
                self._end_answer(step)
        for node in self._conversation.nodes:
            if node.key not in self._numbers:
                raise Unreadable("invalid_value", "The message is not below the first one.", node.at)
        self._select_branch()
        title = self._conversation.title.strip()[:200]
        session = {"format": f.NAME, "version": f.VERSION, "title": title, "messages": self._messages}
        return Tree(session, self._places, self._remarks)

    def _take(self, step: _Step) -> _Step:
        """Add the node. Returns the step from which its children continue."""
        node, parent, chain = step
        self._numbers[node.key] = parent
        if node.role == "hidden":
            return step
        if node.role == "assistant":
            if len(chain) >= f.MAX_CALLS:
                raise Unreadable("body_too_large", "An answer has too many messages.", node.at)
            return _Step(node, parent, (*chain, node))
        if chain:
            parent = self._end_answer(step)
        elif self._messages[parent]["role"] == "user":
            parent = self._add_answer(parent, [node], is_empty=True)
        number = self._add(
            role="user",
            parent=parent,
            text=node.text,
            files=node.files,
            sent_at=self._moment(node),
            at=node.at,
        )
        self._numbers[node.key] = number
        return _Step(node, number, ())

    def _end_answer(self, step: _Step) -> int:
        last = step.chain[-1].key
        if last not in self._answers:
            parent = step.parent
            if self._messages[parent]["role"] != "user":
                first = step.chain[0]
                parent = self._add(
                    role="user", parent=parent, text=NO_QUESTION, sent_at=self._moment(first), at=first.at
                )
            self._answers[last] = self._add_answer(parent, step.chain)
            for node in step.chain:
                self._numbers[node.key] = self._answers[last]
        return self._answers[last]

    def _add_answer(self, question: int, chain: Sequence[Node], *, is_empty: bool = False) -> int:
        """Add an answer, and return its number.
        is_empty: the question was not answered; the chain is the node that follows it."""
        first, last = chain[0], chain[-1]
        turn = self._answer_counts.get(question, 0)
        self._answer_counts[question] = turn + 1
        moments = self._moment(first).isoformat(), self._moment(last).isoformat()
        run: dict[str, Any] = {
            "model": UNKNOWN_MODEL,
            "created_at": moments[0],
            "ended_at": moments[1],
            "turn": turn,
        }
        if is_empty:
            run["status"] = "stopped"
            return self._add(
                role="assistant", parent=question, run=run, sent_at=self._moment(first), at=first.at
            )
        self._count(chain)
        run["model"] = (next((node.model for node in chain if node.model), "") or UNKNOWN_MODEL)[:200]
        if error := last.error:
            run |= {"status": "failed", "error": {"code": "imported", "message": error}}
        if last.usage:
            run["usage"] = dict(last.usage)
        text, calls = _join(chain)
        reasoning = _PASSAGES.join(node.reasoning for node in chain if node.reasoning)
        self._remark(chain, is_empty=not (text.strip() or reasoning.strip() or calls or last.error))
        return self._add(
            role="assistant",
            parent=question,
            text=text,
            reasoning=reasoning,
            tool_calls=calls,
            citations=[one for node in chain for one in node.citations],
            feedback=last.feedback,
            run=run,
            sent_at=self._moment(last),
            at=last.at,
        )

    def _remark(self, chain: Sequence[Node], *, is_empty: bool) -> None:
        at = chain[-1].at
        if any(node.files for node in chain):
            self._remarks.append(Remark("invalid_value", LEFT_OUT, at))
        if is_empty:
            self._remarks.append(Remark("message_empty", "An answer is empty.", at))

    def _count(self, chain: Sequence[Node]) -> None:
        for node in chain:
            if node.key not in self._sizes:
                given = (node.text, node.reasoning, node.output, node.calls, node.citations)
                self._sizes[node.key] = len(msgspec.json.encode(given))
            self._answers_bytes += self._sizes[node.key]
        if self._answers_bytes > MAX_ANSWERS_BYTES:
            raise Unreadable("body_too_large", "The answers of the conversation are too large.", chain[-1].at)

    def _add(self, *, parent: int | None, sent_at: datetime, at: Path, **members: Any) -> int:
        number = len(self._messages)
        given = {name: value for name, value in members.items() if value}
        if parent is not None:
            given["parent"] = parent
            self._messages[parent]["latest_child"] = number
        self._messages.append({"id": number, "sent_at": sent_at.isoformat(), **given})
        self._places.append(at)
        return number

    def _select_branch(self) -> None:
        """Make the branch current that was current in the product."""
        number = self._numbers.get(self._conversation.current or "")
        while number:
            parent = self._messages[number]["parent"]
            self._messages[parent]["latest_child"] = number
            number = parent

    def _moment(self, node: Node) -> datetime:
        return node.sent_at or self._conversation.updated_at


def _join(chain: Iterable[Node]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of an answer and its calls, each with the text before it (format.Call)."""
    text: list[str] = []
    since: list[str] = []
    calls: list[dict[str, Any]] = []
    for node in chain:
        if node.output is not None:
            _add_output(calls, node)
        elif node.text:
            passage = (_PASSAGES if since else "") + node.text
            text.append(passage)
            since.append(passage)
        number = calls[-1]["turn_number"] + 1 if calls else 0
        for index, call in enumerate(node.calls):
            calls.append(call | {"turn_number": number, "tab_index": index, "text_before": "".join(since)})
            since.clear()
    return "".join(text), calls


def _add_output(calls: list[dict[str, Any]], node: Node) -> None:
    """Give the result to the latest call if it has none; otherwise add a call of its own for it."""
    if not calls or "response" in calls[-1]:
        number = calls[-1]["turn_number"] + 1 if calls else 0
        calls.append({"tool_call_id": node.key[:200], "name": node.tool[:64], "turn_number": number})
    calls[-1]["response"] = node.output


_BETWEEN = "\n\n"


class Passage(NamedTuple):
    """A part of an answer. call: an element of tool_calls of format.Message."""

    text: str = ""
    reasoning: str = ""
    call: dict[str, Any] | None = None


# Behind the result of a call: the calls that follow are of another round.
END_OF_ROUND: Final = Passage()


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
