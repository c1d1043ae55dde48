"""Conversations of ChatGPT's export: the elements of conversations.json. Pure.

A conversation is a tree of nodes in `mapping`. A tool call is a message of the assistant to another recipient than
`all`; the tool's message that follows is its result.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Raw, Struct

from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import decode, moment, whole
from features.transfer.foreign_exports.question_files import SOURCE
from features.transfer.foreign_exports.tree import Conversation, Node, span_of

# Marks of sources that only ChatGPT's page can display.
_MARKS: Final = re.compile("\ue200[^\ue200\ue201]{0,1000}\ue201")
# In the pointer of a picture and in the name of its entry.
_FILE_ID: Final = re.compile(r"file[-_][A-Za-z0-9]{1,100}")
_HIDDEN_CONTENT: Final = ("user_editable_context", "model_editable_context")
_HIDDEN_ROLES: Final = ("system", "developer")


class _Author(Struct):
    role: str
    name: str | None = None


class _Thought(Struct):
    summary: str | None = None
    content: str | None = None


class _Content(Struct):
    content_type: str = "text"
    parts: list[Any] | None = None
    text: str | None = None
    result: str | None = None
    content: str | None = None
    thoughts: list[_Thought | None] | None = None


class _Attachment(Struct):
    id: str | None = None
    name: str | None = None
    mime_type: str | None = None


class _Reference(Struct):
    """A reference to a source, at text[start_idx:end_idx]."""

    matched_text: str | None = None
    start_idx: float | None = None
    end_idx: float | None = None
    alt: str | None = None


class _Metadata(Struct):
    model_slug: str | None = None
    is_visually_hidden_from_conversation: bool | None = None
    attachments: list[_Attachment | None] | None = None
    content_references: list[_Reference | None] | None = None


class _Message(Struct):
    author: _Author
    content: _Content | None = None
    create_time: float | str | None = None
    recipient: str | None = None
    metadata: _Metadata | None = None


class _Node(Struct):
    message: _Message | None = None
    parent: str | None = None


class _Conversation(Struct):
    mapping: dict[str, Raw]
    title: str | None = None
    create_time: float | str | None = None
    update_time: float | str | None = None
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None


def read(raw: bytes) -> Conversation:
    """Read a conversation. Raises Unreadable."""
    given = decode(raw, _Conversation)
    nodes = [
        _node(key, decode(one, _Node, ("mapping", key)), ("mapping", key))
        for key, one in given.mapping.items()
    ]
    created_at, updated_at = span_of(
        nodes, moment(given.create_time), moment(given.update_time), "create_time"
    )
    return Conversation(
        source_id=given.conversation_id or given.id or "",
        title=given.title or "",
        nodes=nodes,
        created_at=created_at,
        updated_at=updated_at,
        current=given.current_node,
    )


def _node(key: str, node: _Node, at: Path) -> Node:
    message = node.message
    if message is None or _is_hidden(message):
        return Node(key, node.parent, "hidden", at)
    content, metadata = message.content or _Content(), message.metadata or _Metadata()
    sent_at = moment(message.create_time)
    text = _text(content, metadata)
    if message.author.role == "user":
        return Node(key, node.parent, "user", at, text=text, sent_at=sent_at, files=_files(content, metadata))
    if message.author.role == "tool":
        tool = message.author.name or "tool"
        made = _pictures(content)
        return Node(key, node.parent, "assistant", at, output=text, tool=tool, sent_at=sent_at, files=made)
    reasoning = "\n\n".join(
        "\n".join(part for part in (one.summary, one.content) if part)
        for one in filter(None, content.thoughts or ())
    )
    calls = []
    if message.recipient not in (None, "all"):
        calls = [
            {"tool_call_id": key[:200], "name": str(message.recipient)[:64], "arguments": _arguments(text)}
        ]
        text = ""
    model = metadata.model_slug or ""
    return Node(
        key,
        node.parent,
        "assistant",
        at,
        text=text,
        reasoning=reasoning,
        sent_at=sent_at,
        model=model,
        calls=calls,
        files=_pictures(content),
    )


def _is_hidden(message: _Message) -> bool:
    hidden = message.metadata and message.metadata.is_visually_hidden_from_conversation
    kind = message.content.content_type if message.content else "text"
    return bool(hidden) or message.author.role in _HIDDEN_ROLES or kind in _HIDDEN_CONTENT


def _text(content: _Content, metadata: _Metadata) -> str:
    """Return the visible text. A source becomes the Markdown that the export contains for it."""
    if content.content_type in ("thoughts", "reasoning_recap"):
        return ""
    parts = [one if isinstance(one, str) else _described(one) for one in content.parts or ()]
    parts += [one for one in (content.text, content.result, content.content) if one]
    text = "\n\n".join(part for part in parts if part)
    return _MARKS.sub("", _with_sources(text, list(filter(None, metadata.content_references or ()))))


def _with_sources(text: str, references: Sequence[_Reference]) -> str:
    parts: list[str] = []
    at = 0
    for one in sorted(references, key=lambda reference: reference.start_idx or 0):
        matched, start, end = one.matched_text or "", whole(one.start_idx) or 0, whole(one.end_idx) or 0
        # The positions may refer to a text that another version of the export has changed.
        if matched.strip() and start >= at and end - start == len(matched) and text[start:end] == matched:
            parts += text[at:start], one.alt or ""
            at = end
    return "".join((*parts, text[at:]))


def _described(part: Any) -> str:
    """Return the words of a part that is not a string, such as speech. Images are files of a question (_files)."""
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _files(content: _Content, metadata: _Metadata) -> list[dict[str, Any]]:
    """Return the files of a message: names, and ids with which their entries' names begin.
    Only the zip has contents."""
    if metadata.attachments:
        return [
            _file(one.name or "file", one.mime_type or "", one.id or "")
            for one in filter(None, metadata.attachments)
        ]
    return _pictures(content)


def _pictures(content: _Content) -> list[dict[str, Any]]:
    images = [one for one in content.parts or () if isinstance(one, dict) and "asset_pointer" in one]
    pointers = [str(one["asset_pointer"]) for one in images]
    return [_file(one.rpartition("/")[2] or "image", "image/", one) for one in pointers]


def _file(name: str, content_type: str, pointer: str) -> dict[str, Any]:
    file = {"name": name[:255], "kind": "image" if content_type.startswith("image/") else "text"}
    source = source_in(pointer)
    return file | {SOURCE: source} if source else file


def source_in(text: str) -> str | None:
    """Return the first file id in a pointer, after its scheme, which may be `file-service`."""
    found = _FILE_ID.search(text.rpartition("://")[2])
    return found[0] if found else None


def source_at_start(name: str) -> str | None:
    """Return the file id with which the name of an entry, without its folder, begins."""
    found = _FILE_ID.match(name)
    return found[0] if found else None


def _arguments(text: str) -> dict[str, Any]:
    """Parse the arguments of a call: a JSON object, or another text, such as a program, as `input`."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"input": text}
