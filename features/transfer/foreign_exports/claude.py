"""Conversations of Claude's export: the elements of conversations.json. Pure.

A conversation is a list of messages (`chat_messages`), which are a tree in newer exports (`parent_message_uuid`). The
content of a message is a list of blocks: text, thinking, tool_use and its tool_result.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Raw, Struct

from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import Unreadable, decode, kind_of, moment
from features.transfer.foreign_exports.output_items import text_of
from features.transfer.foreign_exports.question_files import SOURCE, TextContent
from features.transfer.foreign_exports.tree import END_OF_ROUND, Conversation, Node, Passage, chain, span_of

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}


class _Attachment(Struct):
    """An attachment.
    extracted_content: the text that the product extracted from the file, which is not in the export."""

    file_name: str | None = None
    extracted_content: str | None = None


class _File(Struct):
    file_name: str | None = None


class _Block(Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    input: Any = None
    content: Any = None


class _Message(Struct):
    uuid: str
    sender: str
    text: str | None = None
    content: list[_Block | None] | str | None = None
    created_at: float | str | None = None
    parent_message_uuid: str | None = None
    attachments: list[_Attachment | None] | None = None
    files: list[_File | None] | None = None


class _Conversation(Struct):
    chat_messages: list[Raw]
    uuid: str | None = None
    name: str | None = None
    created_at: float | str | None = None
    updated_at: float | str | None = None
    current_leaf_message_uuid: str | None = None
    model: str | None = None


def read(raw: bytes) -> Conversation:
    """Read a conversation. Raises Unreadable."""
    given = decode(raw, _Conversation)
    nodes: list[Node] = []
    for index, one in enumerate(given.chat_messages):
        at: Path = ("chat_messages", index)
        previous = nodes[-1].key if nodes else None
        nodes += _nodes(decode(one, _Message, at), at, previous, given.model or "")
    created_at, updated_at = span_of(nodes, moment(given.created_at), moment(given.updated_at), "created_at")
    return Conversation(
        source_id=given.uuid or "",
        title=given.name or "",
        nodes=nodes,
        created_at=created_at,
        updated_at=updated_at,
        current=given.current_leaf_message_uuid,
    )


def _nodes(message: _Message, at: Path, previous: str | None, model: str) -> list[Node]:
    """Convert a message. previous: the key of the message before it, its parent if the export has no tree."""
    role = _ROLES.get(message.sender)
    if role is None:
        raise Unreadable("invalid_value", "The sender is neither human nor assistant.", (*at, "sender"))
    parent = message.parent_message_uuid or previous
    sent_at = moment(message.created_at)
    written = message.content if isinstance(message.content, str) else message.text or ""
    blocks = [one for one in message.content or () if isinstance(one, _Block)]
    if role == "user":
        text = "\n\n".join(block.text for block in blocks if block.text) or written
        return [
            Node(message.uuid, parent, "user", at, text=text, sent_at=sent_at, files=list(_files(message)))
        ]
    node = Node(message.uuid, parent, "assistant", at, sent_at=sent_at, model=model)
    return chain(node, _passages(blocks, message.uuid) if blocks else [Passage(written)])


def _passages(blocks: Sequence[_Block], key: str) -> list[Passage]:
    """Convert blocks to passages. Each result goes to the call that it names, or to the latest call."""
    passages: list[Passage] = []
    calls: dict[str, dict[str, Any]] = {}
    for number, block in enumerate(blocks):
        if block.type == "tool_use":
            call_id = block.id or f"{key}-{number}"
            calls[call_id] = _call(block, call_id)
            passages.append(Passage(call=calls[call_id]))
        elif block.type == "tool_result":
            call = calls.get(block.tool_use_id or "") or next(reversed(calls.values()), None)
            if call:
                call["response"] = text_of(block.content)
                passages.append(END_OF_ROUND)
        else:
            passages.append(Passage(text=block.text or "", reasoning=block.thinking or ""))
    return passages


def _call(block: _Block, call_id: str) -> dict[str, Any]:
    return {
        "tool_call_id": call_id[:200],
        "name": (block.name or "tool")[:64],
        "arguments": block.input if isinstance(block.input, dict) else {"input": block.input},
        "response": "",
    }


def _files(message: _Message) -> Iterator[dict[str, Any]]:
    """Yield the files of a message.
    An attachment with a text becomes a file of this text; the others have only names."""
    for attachment in filter(None, message.attachments or ()):
        name = attachment.file_name or "pasted.txt"
        if attachment.extracted_content:
            # The text is not a document of the type that the name says.
            name = name if name.endswith((".txt", ".md")) else f"{name[:250]}.txt"
            yield {"name": name[:255], "kind": "text", SOURCE: TextContent(attachment.extracted_content)}
        else:
            yield {"name": name[:255], "kind": kind_of(name)}
    for file in filter(None, message.files or ()):
        if file.file_name:
            yield {"name": file.file_name[:255], "kind": kind_of(file.file_name)}
