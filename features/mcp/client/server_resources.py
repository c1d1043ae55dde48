"""Reads the resources of a server, and has its prompts filled in. Uses the SDK."""

import binascii
from base64 import b64decode
from typing import Final, NamedTuple

from mcp import Client
from mcp_types import (
    BlobResourceContents,
    PromptMessage,
    TextResourceContents,
)

from features.mcp.client.configuration import CallFailed
from features.mcp.client.content import text_of_block

# Of a prompt that was filled in, as many as a message may have.
MAX_CHARACTERS: Final = 100_000
_ROLES: Final = {"user": "User", "assistant": "Assistant"}


class ReadResource(NamedTuple):
    """The content of a resource. content_type: as the server says; empty: it does not."""

    content: bytes
    content_type: str


async def read_resource(client: Client, uri: str) -> ReadResource:
    """Read the texts of a resource as one, else its first file, not parsed. Raises CallFailed, and the SDK's errors."""
    contents = (await client.read_resource(uri)).contents
    texts = [one for one in contents if isinstance(one, TextResourceContents)]
    if texts:
        text = "\n\n".join(one.text for one in texts)
        return ReadResource(text.encode("utf-8", errors="replace"), texts[0].mime_type or "")
    for blob in contents:
        if isinstance(blob, BlobResourceContents):
            try:
                return ReadResource(b64decode(blob.blob, validate=True), blob.mime_type or "")
            except (binascii.Error, ValueError):
                break
    raise CallFailed("The resource has no content.")


async def fill_prompt(client: Client, name: str, arguments: dict[str, str]) -> str:
    """Return the text of a prompt's messages, with their roles if they are not all the user's.
    Raises CallFailed, and the SDK's errors.
    """
    messages = (await client.get_prompt(name, arguments)).messages
    is_dialogue = any(message.role != "user" for message in messages)
    text = "\n\n".join(_text_of(message, with_role=is_dialogue) for message in messages).strip()
    if not text:
        raise CallFailed("The prompt is empty.")
    if len(text) > MAX_CHARACTERS:
        raise CallFailed(f"The prompt has more than {MAX_CHARACTERS} characters.")
    return text


def _text_of(message: PromptMessage, *, with_role: bool) -> str:
    text = text_of_block(message.content)
    return f"{_ROLES[message.role]}: {text}" if with_role else text
