"""Turns what a call answered into text for the model and JSON for clients. Uses the SDK's types."""

import json
from collections.abc import Mapping
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

MAX_CHARACTERS: Final = 100_000


def response_of(result: CallToolResult) -> str:
    """Never bytes in base64: media are named with their type and size.

    Structured content stands for itself where no text repeats it, as servers should (revision 2025-06-18, Tools, Structured Content).
    """
    parts = [text for block in result.content if (text := _text_of(block))]
    has_text = any(isinstance(block, TextContent) for block in result.content)
    if result.structured_content is not None and not has_text:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    text = "\n\n".join(parts)
    if len(text) > MAX_CHARACTERS:
        return f"{text[:MAX_CHARACTERS]}\n\n(Cut off: the result has {len(text)} characters.)"
    return text


def structured_of(result: CallToolResult) -> Mapping[str, Any] | None:
    """For clients. None where there is none, or one that is too long, no object, or no JSON that can be stored.

    Also where it only wraps the text, as the official SDKs do for tools that return one.
    """
    found, length = measured_storable(result.structured_content) or (None, 0)
    if not isinstance(found, dict) or length > MAX_CHARACTERS or found == {"result": response_of(result)}:
        return None
    return found


def _text_of(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent | AudioContent):
        kind = "An image" if isinstance(block, ImageContent) else "A sound"
        return _left_out(kind, block.mime_type, block.data)
    if isinstance(block, ResourceLink):
        described = f": {block.description}" if block.description else ""
        return f"[{block.title or block.name}]({block.uri}){described}"
    return _resource(block.resource)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(resource, TextResourceContents):
        return f"{resource.uri}\n\n{resource.text}"
    return f"{resource.uri} {_left_out('A file', resource.mime_type or 'unknown type', resource.blob)}"


def _left_out(kind: str, mime_type: str, base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"({kind} of {size} bytes, {mime_type}, which cannot be shown here.)"
