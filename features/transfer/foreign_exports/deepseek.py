"""Conversations of DeepSeek's export: the elements of conversations.json. Pure.

A conversation is a tree of nodes in `mapping`, as in ChatGPT's export. A message is a list of fragments, whose types
tell its author: REQUEST and FILE belong to a question; THINK, SEARCH, RESPONSE and all others to an answer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Raw, Struct

from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import decode, kind_of, moment
from features.transfer.foreign_exports.tree import Conversation, Node, Passage, chain, span_of

_OF_QUESTIONS: Final = ("REQUEST", "FILE")


class _Result(Struct):
    url: str | None = None
    title: str | None = None


class _File(Struct):
    file_name: str | None = None


class _Fragment(Struct):
    type: str
    content: str | None = None
    files: list[_File | None] | None = None
    results: list[_Result | None] | None = None


class _Message(Struct):
    fragments: list[_Fragment | None]
    model: str | None = None
    inserted_at: float | str | None = None
    files: list[_File | None] | None = None


class _Node(Struct):
    message: _Message | None = None
    parent: str | None = None


class _Conversation(Struct):
    mapping: dict[str, Raw]
    id: str | None = None
    title: str | None = None
    inserted_at: float | str | None = None
    updated_at: float | str | None = None


def read(raw: bytes) -> Conversation:
    """Read a conversation. Raises Unreadable."""
    given = decode(raw, _Conversation)
    nodes: list[Node] = []
    for key, one in given.mapping.items():
        at: Path = ("mapping", key)
        nodes += _nodes(key, decode(one, _Node, at), at)
    created_at, updated_at = span_of(
        nodes, moment(given.inserted_at), moment(given.updated_at), "inserted_at"
    )
    return Conversation(
        source_id=given.id or "",
        title=given.title or "",
        nodes=nodes,
        created_at=created_at,
        updated_at=updated_at,
    )


def _nodes(key: str, node: _Node, at: Path) -> list[Node]:
    message = node.message
    if message is None:
        return [Node(key, node.parent, "hidden", at)]
    sent_at = moment(message.inserted_at)
    fragments = list(filter(None, message.fragments))
    if any(one.type in _OF_QUESTIONS for one in fragments):
        text = "\n\n".join(one.content for one in fragments if one.content)
        files = list(_files(message, fragments))
        return [Node(key, node.parent, "user", at, text=text, sent_at=sent_at, files=files)]
    answer = Node(key, node.parent, "assistant", at, sent_at=sent_at, model=message.model or "")
    return chain(answer, (_passage(one, f"{key}-{number}") for number, one in enumerate(fragments)))


def _passage(fragment: _Fragment, key: str) -> Passage:
    if fragment.type == "THINK":
        return Passage(reasoning=fragment.content or "")
    if fragment.results is None:
        return Passage(text=fragment.content or "")
    found = [f"{one.title or ''} {one.url or ''}".strip() for one in fragment.results if one]
    call = {"tool_call_id": key[:200], "name": fragment.type.lower()[:64], "response": "\n".join(found)}
    return Passage(call=call)


def _files(message: _Message, fragments: Sequence[_Fragment]) -> Iterator[dict[str, Any]]:
    """Yield the files of a message, by name only: the export does not contain their contents."""
    listed = [*(message.files or ()), *(file for one in fragments for file in one.files or ())]
    names = dict.fromkeys(file.file_name for file in listed if file and file.file_name)
    for name in names:
        yield {"name": name[:255], "kind": kind_of(name)}
