"""An export of some megabytes takes no gigabytes, however its messages are nested."""

import tracemalloc
from collections.abc import Callable

import pytest
from msgspec import json

from features.transfer.foreign_exports import chatgpt, claude, deepseek, librechat, open_webui
from features.transfer.foreign_exports.elements import Element
from features.transfer.foreign_exports.foreign_objects import Unreadable
from features.transfer.foreign_exports.inline_pictures import MAX_PICTURES, lift
from features.transfer.foreign_exports.tree import Conversation

pytestmark = [pytest.mark.pure, pytest.mark.slow]

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


def below(number: int, depth: int) -> str | None:
    """The parent of a message, in a chain of which the last one has many replies."""
    return f"m{min(number - 1, depth)}" if number else None


def mapping(count: int, depth: int) -> bytes:
    said = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["a"]},
        "create_time": 1.7e9,
    }
    nodes = {
        f"m{n}": {"message": said | {"id": f"m{n}", "recipient": "all"}, "parent": below(n, depth)}
        for n in range(count)
    }
    return json.encode({"title": "a", "conversation_id": "c", "create_time": 1.7e9, "mapping": nodes})


def history(count: int, depth: int) -> bytes:
    messages = {
        f"m{n}": {"role": "user", "content": "a", "timestamp": 1.7e9, "parentId": below(n, depth)}
        for n in range(count)
    }
    return json.encode({"id": "c", "created_at": 1.7e9, "chat": {"history": {"messages": messages}}})


def listed(count: int, depth: int) -> bytes:
    said = {
        "sender": "human",
        "content": [{"type": "text", "text": "a"}],
        "created_at": "2026-01-01T00:00:00Z",
    }
    messages = [said | {"uuid": f"m{n}", "parent_message_uuid": below(n, depth)} for n in range(count)]
    return json.encode({"uuid": "c", "created_at": "2026-01-01T00:00:00Z", "chat_messages": messages})


def fragments(count: int, depth: int) -> bytes:
    said = {
        "model": "m",
        "inserted_at": "2026-01-01T00:00:00Z",
        "fragments": [{"type": "REQUEST", "content": "a"}],
    }
    nodes = {f"m{n}": {"id": f"m{n}", "message": said, "parent": below(n, depth)} for n in range(count)}
    return json.encode({"id": "c", "inserted_at": "2026-01-01T00:00:00Z", "mapping": nodes})


@pytest.mark.parametrize("depth", [300, 5_000], ids=["many replies", "a chain"])
@pytest.mark.parametrize(
    ("read", "make"),
    [
        pytest.param(chatgpt.read, mapping, id="ChatGPT"),
        pytest.param(open_webui.read, history, id="Open WebUI", marks=pytest.mark.full),
        pytest.param(claude.read, listed, id="Claude", marks=pytest.mark.full),
        pytest.param(deepseek.read, fragments, id="DeepSeek", marks=pytest.mark.full),
    ],
)
def test_flat_exports_take_a_few_times_their_size(
    read: Callable[[bytes], Conversation], make: Callable[[int, int], bytes], depth: int
) -> None:
    content = make(5_000, depth)
    tracemalloc.start()
    try:
        found = read(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.nodes) == 5_000
    assert peak < 15 * len(content)


def test_a_long_chain_with_some_replies_is_read() -> None:
    assert len(librechat.read(nested(300, 100)).nodes) == 400


@pytest.mark.parametrize("start", ['"data:image/png;base64,', "](data:image/png;base64,A", "data:image/"])
def test_what_begins_like_pictures_is_searched_in_one_pass(start: str) -> None:
    content = b'{"a": "' + start.encode() * 500_000 + b'"}'
    element = Element(None, 0, len(content), 1)
    assert len(lift(content, element).pictures) <= MAX_PICTURES
