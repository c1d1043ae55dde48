"""An export of some megabytes takes no gigabytes, however its messages are nested."""

import tracemalloc

import pytest
from msgspec import json

from chat.sessions.foreign_exports import librechat
from chat.sessions.foreign_exports.reading import Unreadable

pytestmark = pytest.mark.pure

MEGABYTE = 1024 * 1024


def nested(depth: int, leaves: int) -> bytes:
    """A chain of messages, of which the last has many replies."""
    moment = '"createdAt":"2026-01-01T00:00:00Z"'
    replies = ",".join(f'{{"messageId":"r{number}"}}' for number in range(leaves))
    opened = "".join(f'{{"messageId":"m{number}",{moment},"children":[' for number in range(depth))
    text = f'{{"messages":[{opened}{replies}{"]}" * depth}]}}'
    json.decode(text)
    return text.encode()


def test_many_messages_below_a_long_chain_are_refused_before_their_places_are_made() -> None:
    content = nested(300, 150_000)
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable) as refused:
            librechat.read(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.code == "body_too_large"
    assert peak < 20 * len(content)
    assert len(content) > 3 * MEGABYTE


def test_a_long_chain_with_some_replies_is_read() -> None:
    assert len(librechat.read(nested(300, 100)).nodes) == 400
