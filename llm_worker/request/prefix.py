"""How much of a request a model server has seen before: what the two begin with in common. Pure."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from llm_worker.request.api_messages import to_api_messages
from llm_worker.request.message import LanguageModelInput, total_tokens

# 64 bits: messages of one session are compared, not of the world.
DIGEST_BYTES = 8


def prefix_share(previous: LanguageModelInput, request: LanguageModelInput) -> float:
    """Tokens of the messages both begin with / tokens of `request`; 0 to 1."""
    return share_of_first(common_length(previous, request), request)


def share_of_first(messages: int, request: LanguageModelInput) -> float:
    """The share of the first `messages` of a request."""
    tokens = total_tokens(request)
    return total_tokens(request[:messages]) / tokens if tokens else 0.0


def common_length(previous: Sequence[object], request: Sequence[object]) -> int:
    """How many messages, or digests of messages, both begin with."""
    return next(
        (number for number, (one, other) in enumerate(zip(previous, request, strict=False)) if one != other),
        min(len(previous), len(request)),
    )


def message_digests(messages: LanguageModelInput) -> list[str]:
    """What stands for each message where its text must not be kept; equal for what looks the same on the wire."""
    encoded = map(_encoded, to_api_messages(messages))
    return [blake2b(one, digest_size=DIGEST_BYTES).hexdigest() for one in encoded]


def _encoded(wire: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(wire)
    except UnicodeEncodeError:  # half an emoji, as a model wrote it
        return json.dumps(wire).encode()
