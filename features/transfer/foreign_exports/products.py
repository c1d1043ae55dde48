"""Recognises by its members the product that has exported a conversation. Pure."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from features.transfer.foreign_exports import chatgpt, claude, deepseek, librechat, open_webui
from features.transfer.foreign_exports.foreign_objects import Unreadable, decode
from features.transfer.foreign_exports.tree import Conversation

WHAT_TO_CHOOSE: Final = (
    "Choose the zip that ChatGPT, Claude or DeepSeek sent you, or conversations.json from it, or the JSON file that Open WebUI or "
    "LibreChat exports."
)
_ABSENT: Final = msgspec.Raw()


class Product(NamedTuple):
    """A product. name: part of the ids of sessions, so it must not change."""

    name: str
    read: Callable[[bytes], Conversation]


class _Members(Struct):
    """The members that distinguish the products. Their values are not decoded."""

    mapping: msgspec.Raw = _ABSENT
    inserted_at: msgspec.Raw = _ABSENT
    chat: msgspec.Raw = _ABSENT
    chat_messages: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    conversation_id: msgspec.Raw = msgspec.field(default=_ABSENT, name="conversationId")


def product_of(raw: bytes) -> Product:
    """Return the product of a conversation. Raises Unreadable if none is recognised."""
    members = decode(raw, _Members)
    if members.mapping is not _ABSENT:
        is_deepseek = members.inserted_at is not _ABSENT
        return Product("deepseek", deepseek.read) if is_deepseek else Product("chatgpt", chatgpt.read)
    if members.chat is not _ABSENT:
        return Product("open_webui", open_webui.read)
    if members.chat_messages is not _ABSENT:
        return Product("claude", claude.read)
    if _ABSENT not in (members.messages, members.conversation_id):
        return Product("librechat", librechat.read)
    raise Unreadable("invalid_value", f"This is no chat of a product that is known here. {WHAT_TO_CHOOSE}")
