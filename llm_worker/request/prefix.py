"""Measures the common prefix of two requests: how much of one the server may have cached. Pure."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from llm_worker.request.api_messages import to_api_messages
from llm_worker.request.model_message import LanguageModelInput, total_tokens

# 64 bits suffice: only messages of one session are compared.
DIGEST_BYTES = 8


def prefix_share(previous: LanguageModelInput, request: LanguageModelInput) -> float:
    """Return the tokens of the common leading messages divided by the tokens of `request`; 0 to 1."""
    return share_of_first(common_length(previous, request), request)


def share_of_first(messages: int, request: LanguageModelInput) -> float:
    """Return the share of the first `messages` messages in the tokens of a request; 0 to 1."""
    tokens = total_tokens(request)
    return total_tokens(request[:messages]) / tokens if tokens else 0.0


def common_length(previous: Sequence[object], request: Sequence[object]) -> int:
    """Count the leading messages, or digests of messages, that both requests have in common."""
    return next(
        (number for number, (one, other) in enumerate(zip(previous, request, strict=False)) if one != other),
        min(len(previous), len(request)),
    )


def message_digests(messages: LanguageModelInput) -> list[str]:
    """Return a digest per message, where texts must not be kept.
    Messages that are equal on the wire have equal digests.
    """
    encoded = map(_encoded, to_api_messages(messages))
    return [blake2b(one, digest_size=DIGEST_BYTES).hexdigest() for one in encoded]


def _encoded(wire: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(wire)
    except UnicodeEncodeError:  # a lone surrogate in what a model wrote
        return json.dumps(wire).encode()
