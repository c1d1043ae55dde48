"""Turns the result of a call into text and images for the model, and JSON for clients. Uses the SDK's types."""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from chat.protocol.strict_json import measured_storable
from chat.transcript.entries import MAX_IMAGES
from features.mcp.client.configuration import MAX_RESULT_CHARACTERS, cut_result
from knowledge.files.file_types import detect_type

# Detected by the first bytes of the content, whatever type the server names.
_ACCEPTED: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})

_WORD: Final = re.compile(r"\w+")


def images_of(result: CallToolResult) -> dict[int, bytes]:
    """Return the images that may be shown, by their position in the result. The reader of files parses them later.
    Their bytes are bounded by the size of the message.
    """
    images: dict[int, bytes] = {}
    for place, block in enumerate(result.content):
        if len(images) == MAX_IMAGES:
            break
        if isinstance(block, ImageContent) and (content := _image(block.data)):
            images[place] = content
    return images


def response_of(result: CallToolResult, shown: Collection[int] = (), *, sends_structured: bool = True) -> str:
    """Return the text of a result, without bytes in base64: media are named with their type and size.

    shown: the positions of the images that are shown. Structured content is added as JSON if there is no text, or if
    the text leaves some of it out and the model may read both (sends_structured). Servers should repeat all of it in the
    text (revision 2025-06-18, Tools, Structured Content), and many write a summary instead.
    """
    parts = [
        text
        for place, block in enumerate(result.content)
        if (text := text_of_block(block, is_shown=place in shown))
    ]
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    structured = result.structured_content
    if structured is not None and (not texts or (sends_structured and not _repeats(texts, structured))):
        parts.append(json.dumps(structured, ensure_ascii=False))
    return cut_result("\n\n".join(parts))


def _repeats(texts: Sequence[str], structured: Any) -> bool:
    """Return whether each word and number of the structured content is in the texts; true where no more is read."""
    if sum(map(len, texts)) >= MAX_RESULT_CHARACTERS:
        return True
    written = set(_WORD.findall(" ".join(texts)))
    return all(written.issuperset(_WORD.findall(value)) for value in _values(structured))


def _values(structured: Any) -> Iterator[str]:
    """Yield the texts and numbers of JSON. What JSON says by true, false and null, texts say in other words."""
    if isinstance(structured, dict | list):
        for inner in structured.values() if isinstance(structured, dict) else structured:
            yield from _values(inner)
    elif isinstance(structured, str | int | float) and not isinstance(structured, bool):
        yield str(structured)


def structured_of(result: CallToolResult) -> Mapping[str, Any] | None:
    """Return the structured content for clients. None: none, too long, no object, or no JSON that can be stored.

    Also None if it only wraps the text, as the official SDKs do for tools that return text.
    """
    found, length = measured_storable(result.structured_content) or (None, 0)
    if (
        not isinstance(found, dict)
        or length > MAX_RESULT_CHARACTERS
        or found == {"result": response_of(result)}
    ):
        return None
    return found


def _image(base64: str) -> bytes:
    """Decode an image; empty if it is no image of an accepted type."""
    try:
        content = b64decode(base64, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return content if detect_type("", content).content_type in _ACCEPTED else b""


def text_of_block(block: ContentBlock, *, is_shown: bool = False) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent | AudioContent):
        kind = "An image" if isinstance(block, ImageContent) else "A sound"
        named = _named(kind, block.mime_type, block.data)
        return f"({named}.)" if is_shown else _left_out(named)
    if isinstance(block, ResourceLink):
        described = f": {block.description}" if block.description else ""
        return f"[{block.title or block.name}]({block.uri}){described}"
    return _resource(block.resource)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(resource, TextResourceContents):
        return f"{resource.uri}\n\n{resource.text}".lstrip()
    named = _named("A file", resource.mime_type or "unknown type", resource.blob)
    return f"{resource.uri} {_left_out(named)}".lstrip()


def _named(kind: str, mime_type: str, base64: str) -> str:
    return f"{kind} of {len(base64.rstrip('=')) * 3 // 4} bytes, {mime_type}"


def _left_out(named: str) -> str:
    return f"({named}, which cannot be shown here.)"
