"""Chats of Open WebUI's export: a message tree in `chat.history`, with reasoning and calls as HTML in texts. Pure."""

import json
import re
from html import unescape
from typing import Any, Final

from msgspec import Raw, Struct

from features.transfer.foreign_exports.elements import Path
from features.transfer.foreign_exports.foreign_objects import Unreadable, decode, moment, whole
from features.transfer.foreign_exports.inline_pictures import urls_in
from features.transfer.foreign_exports.output_items import read_output
from features.transfer.foreign_exports.question_files import SOURCE
from features.transfer.foreign_exports.tree import Conversation, Node, Passage, chain

_DETAILS: Final = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"')
_DETAILS_END: Final = "</details>"
# No character is read twice, neither in a word without a value nor in a value without an end.
_ATTRIBUTE: Final = re.compile(r'(?<!\w)(\w++)="([^"]*+)"')
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)


class _File(Struct):
    name: str | None = None
    type: str | None = None
    url: str | None = None


class _Usage(Struct):
    prompt_tokens: float | None = None
    completion_tokens: float | None = None


class _Annotation(Struct):
    rating: float | None = None
    comment: str | None = None


class _Message(Struct, rename="camel"):
    role: str
    parent_id: str | None = None
    content: str | list[Any] | None = None
    timestamp: float | str | None = None
    model: str | None = None
    files: list[_File | None] | None = None
    usage: _Usage | None = None
    annotation: _Annotation | None = None
    error: Any = None
    output: Any = None


class _History(Struct, rename="camel"):
    messages: dict[str, Raw]
    current_id: str | None = None


class _Chat(Struct):
    history: _History
    title: str | None = None
    tags: Any = None


class _Conversation(Struct):
    chat: _Chat
    id: str | None = None
    title: str | None = None
    meta: Any = None
    created_at: float | str | None = None
    updated_at: float | str | None = None


def read(raw: bytes) -> Conversation:
    """Read a chat. Raises Unreadable."""
    given = decode(raw, _Conversation)
    path: Path = ("chat", "history", "messages")
    history = given.chat.history
    nodes: list[Node] = []
    for key, message in history.messages.items():
        nodes += _nodes(key, decode(message, _Message, (*path, key)), (*path, key))
    moments = [node.sent_at for node in nodes if node.sent_at]
    created_at = moment(given.created_at) or min(moments, default=None)
    if created_at is None:
        raise Unreadable("field_required", "The conversation has no time.", ("created_at",))
    return Conversation(
        source_id=given.id or "",
        title=given.title or given.chat.title or "",
        nodes=nodes,
        created_at=created_at,
        updated_at=moment(given.updated_at) or max(moments, default=created_at),
        current=history.current_id,
        tags=_tags(given),
    )


def _tags(given: _Conversation) -> list[str]:
    """Return the tags.
    Releases up to 0.4 have them in the chat, later ones in `meta`, as ids with underscores as spaces."""
    of_meta = given.meta.get("tags") if isinstance(given.meta, dict) else None
    listed = of_meta or given.chat.tags
    if not isinstance(listed, list):
        return []
    names = (one.get("name") if isinstance(one, dict) else one for one in listed)
    return [name.replace("_", " ") for name in names if isinstance(name, str)]


def _nodes(key: str, message: _Message, place: Path) -> list[Node]:
    sent_at = moment(message.timestamp)
    text = _plain(message.content)
    pictures = [_file(_File(type="image", url=url)) for url in urls_in(message.content)]
    if message.role == "user":
        files = [_file(one) for one in message.files or () if one and (one.name or one.type == "image")]
        return [
            Node(key, message.parent_id, "user", place, text=text, sent_at=sent_at, files=[*files, *pictures])
        ]
    if message.role != "assistant":
        return [Node(key, message.parent_id, "hidden", place)]
    pictures += [_file(one) for one in message.files or () if one and one.type == "image"]
    usage = message.usage or _Usage()
    answer = Node(
        key,
        message.parent_id,
        "assistant",
        place,
        sent_at=sent_at,
        model=message.model or "",
        error=_error(message.error),
        files=pictures,
        feedback=_feedback(message.annotation),
        usage={
            "prompt_tokens": whole(usage.prompt_tokens),
            "completion_tokens": whole(usage.completion_tokens),
        },
    )
    return chain(answer, _passages(_unfold(text, key), read_output(message.output, key)))


def _passages(folded: list[Passage], listed: list[Passage]) -> list[Passage]:
    """Return the passages of the text, with what it lacks of `output`: newer releases have reasoning and calls there, and
    sometimes all of the answer."""
    if any(passage.call or passage.reasoning for passage in folded):
        return folded if _words(folded) else [*folded, *(passage for passage in listed if passage.text)]
    if _words(folded) in ([], _words(listed)):
        return listed
    # The text was edited.
    return [*(passage for passage in listed if not passage.text), *folded]


def _words(passages: list[Passage]) -> list[str]:
    return [word for passage in passages for word in passage.text.split()]


def _file(given: _File) -> dict[str, Any]:
    """Convert a file. A picture that is a data URL in the export may have no name."""
    file = {"name": (given.name or "image")[:255], "kind": "image" if given.type == "image" else "text"}
    return file | {SOURCE: given.url} if given.type == "image" and given.url else file


def _plain(content: str | list[Any] | None) -> str:
    """Return the text of a content. Messages that came through the API may have parts instead of a text."""
    if not isinstance(content, list):
        return content or ""
    texts = [one.get("text") for one in content if isinstance(one, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _unfold(text: str, key: str) -> list[Passage]:
    """Return the text with the reasoning and the calls that its HTML blocks contain, in their order."""
    passages: list[Passage] = []
    at = 0
    while found := _DETAILS.search(text, at):
        tag_end = text.find(">", found.end())
        end = text.find(_DETAILS_END, tag_end)
        if -1 in (tag_end, end):
            break
        given = {name: unescape(value) for name, value in _ATTRIBUTE.findall(text[found.end() : tag_end])}
        content = _content(text[tag_end + 1 : end])
        if before := text[at : found.start()].strip("\n"):
            passages.append(Passage(before))
        if found[1] == "reasoning":
            passages.append(Passage(reasoning=content))
        else:
            passages.append(Passage(call=_call(given, content, f"{key}-{len(passages)}")))
        at = end + len(_DETAILS_END)
    if rest := text[at:].strip("\n"):
        passages.append(Passage(rest))
    return passages


def _content(inside: str) -> str:
    """Return the content of a block below its summary, without the quote marks that the product adds."""
    stripped = inside.strip()
    below = stripped.partition("</summary>")[2] if stripped.startswith("<summary>") else stripped
    return _QUOTE.sub("", unescape(below.strip())).strip()


def _call(given: dict[str, str], content: str, key: str) -> dict[str, Any]:
    name = given.get("name") or "code_interpreter"
    arguments = _decoded(given.get("arguments", "")) if "arguments" in given else {"code": content}
    response = _decoded(given.get("result") or given.get("output") or "")
    return {
        "tool_call_id": (given.get("id") or key)[:200],
        "name": name[:64],
        "arguments": arguments if isinstance(arguments, dict) else {"input": arguments},
        "response": response if isinstance(response, str) else json.dumps(response, ensure_ascii=False),
    }


def _decoded(text: str) -> Any:
    """Decode JSON, and JSON in a JSON string. Returns the text itself if it is not JSON."""
    try:
        value = json.loads(text)
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
    except (ValueError, RecursionError):
        return text


def _error(error: Any) -> str:
    content = error.get("content") if isinstance(error, dict) else error
    return "" if not content else content if isinstance(content, str) else "The answer failed."


def _feedback(given: _Annotation | None) -> dict[str, Any] | None:
    if given is None or not (given.rating or given.comment):
        return None
    return {"is_positive": given.rating > 0 if given.rating else None, "text": (given.comment or "")[:10_000]}
