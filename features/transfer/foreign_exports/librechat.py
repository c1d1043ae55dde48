"""Conversations of LibreChat's export, one per file: messages in a list, or nested in `children`. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import Unreadable, decode, moment
from features.transfer.foreign_exports.inline_pictures import urls_in
from features.transfer.foreign_exports.question_files import SOURCE
from features.transfer.foreign_exports.tree import Conversation, Node, Passage, chain

_LIKES: Final = {"thumbsUp": True, "thumbsDown": False}

# The steps of the paths of all nested messages: one chain of 1,000 messages has a million. Each step takes 8 bytes.
MAX_STEPS: Final = 4_000_000


class _File(Struct):
    filename: str | None = None
    type: str | None = None
    filepath: str | None = None


class _Call(Struct):
    name: str | None = None
    args: str | dict[str, Any] | None = None
    output: str | None = None
    id: str | None = None


class _Part(Struct):
    type: str
    text: str | dict[str, Any] | None = None
    think: str | None = None
    error: str | None = None
    tool_call: _Call | None = None
    image_url: Any = None


class _Feedback(Struct):
    rating: str | None = None
    text: str | None = None


class _Message(Struct, rename="camel"):
    message_id: str
    parent_message_id: str | None = None
    is_created_by_user: bool = False
    text: str | None = None
    content: list[_Part | None] | None = None
    created_at: float | str | None = None
    model: str | None = None
    error: bool | None = None
    files: list[_File | None] | None = None
    image_urls: Any = msgspec.field(default=None, name="image_urls")
    feedback: _Feedback | None = None
    children: list[Raw] | None = None


class _Options(Struct):
    model: str | None = None


class _Conversation(Struct, rename="camel"):
    messages: list[Raw]
    conversation_id: str | None = None
    title: str | None = None
    export_at: float | str | None = None
    options: _Options | None = None


def read(raw: bytes) -> Conversation:
    """Read a conversation. Raises Unreadable."""
    given = decode(raw, _Conversation)
    model = (given.options and given.options.model) or ""
    nodes = [node for message, place in _walk(given.messages) for node in _nodes(message, place, model)]
    moments = [node.sent_at for node in nodes if node.sent_at]
    # Exports write the time in the browser's language; then it cannot be read, and is left out.
    exported_at = moment(given.export_at)
    created_at = min(moments, default=exported_at)
    if created_at is None:
        raise Unreadable("field_required", "The conversation has no time.", ("messages", 0, "createdAt"))
    return Conversation(
        source_id=given.conversation_id or "",
        title=given.title or "",
        nodes=nodes,
        created_at=created_at,
        updated_at=max(moments, default=created_at),
        current=nodes[-1].key if nodes else None,
    )


def _walk(messages: list[Raw]) -> Iterator[tuple[_Message, Path]]:
    """Yield all messages; a nested message follows the message that it replies to. Raises Unreadable."""
    steps = 0
    waiting: list[tuple[Raw, Path]] = []
    waiting += [(one, ("messages", index)) for index, one in enumerate(messages)][::-1]
    while waiting:
        raw, at = waiting.pop()
        message = decode(raw, _Message, at)
        yield message, at
        replies = message.children or ()
        # Checked before the paths are made, since each contains all steps from the first message.
        steps += len(replies) * (len(at) + 2)
        if steps > MAX_STEPS:
            raise Unreadable("body_too_large", "Too many messages are nested too deeply.", at)
        inside = [(one, (*at, "children", index)) for index, one in enumerate(replies)]
        waiting += inside[::-1]


def _nodes(message: _Message, place: Path, model: str) -> list[Node]:
    key, parent = message.message_id, message.parent_message_id
    sent_at = moment(message.created_at)
    parts = list(filter(None, message.content or ()))
    pictures = _pictures(message, parts)
    if message.is_created_by_user:
        files = [_file(one) for one in message.files or () if one and one.filename]
        text = message.text or "\n\n".join(_text(part) for part in parts if part.type == "text")
        return [Node(key, parent, "user", place, text=text, sent_at=sent_at, files=[*files, *pictures])]
    failures = [part.error for part in parts if part.error]
    answer = Node(
        key,
        parent,
        "assistant",
        place,
        sent_at=sent_at,
        model=message.model or model,
        error=(failures or ["The answer failed."])[0] if message.error or failures else "",
        feedback=_feedback(message.feedback),
        files=pictures,
    )
    return chain(answer, _passages(message.text or "", parts, key))


def _passages(text: str, parts: Sequence[_Part], key: str) -> Iterator[Passage]:
    """Yield the parts in their order. text: of the answer, in releases that have it beside its parts."""
    for index, part in enumerate(parts):
        call = _call(part.tool_call, f"{key}-{index}") if part.tool_call else None
        passage = Passage("" if text or part.type != "text" else _text(part), part.think or "", call)
        if any(passage):
            yield passage
    if text:
        yield Passage(text)


def _file(given: _File) -> dict[str, Any]:
    name = (given.filename or "")[:255]
    if not (given.type or "").startswith("image/"):
        return {"name": name, "kind": "text"}
    return {"name": name, "kind": "image", SOURCE: given.filepath or ""}


def _pictures(message: _Message, parts: Iterable[_Part]) -> list[dict[str, Any]]:
    """Return the pictures that are data URLs in the export; older releases have them beside the text."""
    of_parts = [{"image_url": part.image_url} for part in parts if part.image_url]
    urls = [*urls_in(of_parts), *urls_in(message.image_urls)]
    return [{"name": "image", "kind": "image", SOURCE: url} for url in urls]


def _text(part: _Part) -> str:
    value = part.text.get("value") if isinstance(part.text, dict) else part.text
    return value if isinstance(value, str) else ""


def _call(given: _Call, key: str) -> dict[str, Any]:
    arguments: Any = given.args or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"input": arguments}
    return {
        "tool_call_id": (given.id or key)[:200],
        "name": (given.name or "tool")[:64],
        "arguments": arguments if isinstance(arguments, dict) else {"input": arguments},
        "response": given.output or "",
    }


def _feedback(given: _Feedback | None) -> dict[str, Any] | None:
    if given is None or not (given.rating in _LIKES or given.text):
        return None
    return {"is_positive": _LIKES.get(given.rating or ""), "text": (given.text or "")[:10_000]}
