"""The digest of a request, with which a repeat is recognised, also one of a request stored by an earlier version."""

from typing import Any

import pytest

from chat.turns.request import TurnBody

pytestmark = pytest.mark.pure

# Of a request with a text alone.
PLAIN = "a6ba628ffa50fe5398f3173adbf05c0f472c4e4f91f5f7645a27f133498b10ee"


@pytest.mark.parametrize(
    ("members", "digest"),
    [
        ({"parent": None}, "09360882cb41c3506c7f29a96febe436e485f872b67988d623c447613867bc8b"),
        ({"parent": "1B5AC5A3-5A1F-4A8B-9F6E-2D1F3C4B5A69"}, "db6316e9051acd733b8b58165b660758a27d16d392a76ca0ed683fb33f308678"),
        ({"models": ["b", "a"]}, "e80c46d42866e1210cb46a27d8077ea95f3e1bbaf563c2b81e4df5f4f03873f5"),
        ({"files": ["0b5ac5a3-5a1f-4a8b-9f6e-2d1f3c4b5a69", "1B5AC5A3-5A1F-4A8B-9F6E-2D1F3C4B5A69"]}, "18b31fa7a75a7d18aea3e3c6e99e54e22b989e52c1acb6d1d320b0b8433193e9"),
        ({"forced_tool": "current_time"}, "2b46a908ff0f8253309ec280120a3864e26142be5cc00afae17036b9963177e7"),
        ({"additional_context": "Today is Monday."}, "0a77ef6763f7774af1528b4403a800db6a88c8d10c9c895a644b1f50465ba257"),
        ({"knowledge_bases": ["1B5AC5A3-5A1F-4A8B-9F6E-2D1F3C4B5A69", "0b5ac5a3-5a1f-4a8b-9f6e-2d1f3c4b5a69", "0b5ac5a3-5a1f-4a8b-9f6e-2d1f3c4b5a69"]}, "924745dfd711ee2a1142154412c2a8f2e4ce1612cd1ce755c4899279918f4100"),
        ({"options": {"temperature": 1, "stop": [], "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}}}, "05af2127f979804946e585ae3da5cc21e5ea99b283e202e9bb65fb96665e6330"),
    ],
)  # fmt: skip
def test_each_member_changes_the_digest_as_in_stored_requests(members: dict[str, Any], digest: str) -> None:
    assert TurnBody.parse({"text": "Why? ü", **members}).digest() == digest


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"client_message_id": "m1"},
        {"files": [], "knowledge_bases": [], "options": {}},
        {"forced_tool": None, "additional_context": None, "knowledge_bases": None, "options": None},
    ],
)
def test_a_member_without_a_value_does_not_change_the_digest(members: dict[str, Any]) -> None:
    assert TurnBody.parse({"text": "Why? ü", **members}).digest() == PLAIN
