"""What is kept of the answers of MCP servers."""

import json
import math
from base64 import b64encode
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent

from chat.transcript.entries import MAX_IMAGES
from features.mcp.client.configuration import MAX_RESULT_CHARACTERS
from features.mcp.client.content import images_of, response_of, structured_of

pytestmark = pytest.mark.pure


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, None),
        ({}, {}),
        ({"sum": 3, "parts": [1, None]}, {"sum": 3, "parts": [1, None]}),
        ({"text": "a\x00b\ud800"}, {"text": "a\ufffdb\ufffd"}),
        ({"mean": math.nan}, None),
        ({"text": "x" * MAX_RESULT_CHARACTERS}, None),
        (nested(500), None),
    ],
    ids=["none", "empty", "an object", "what Postgres refuses", "no number", "too long", "too deep"],
)
def test_structured_content_is_kept_for_clients_if_it_can_be_stored(sent, kept):
    assert structured_of(CallToolResult.model_construct(content=[], structured_content=sent)) == kept


def test_structured_content_that_only_wraps_the_text_is_not_kept_twice():
    text = TextContent(text="echo: Ebbe")
    sent = CallToolResult(content=[text], structured_content={"result": "echo: Ebbe"})
    assert structured_of(sent) is None


def test_a_model_reads_structured_content_where_no_text_repeats_it():
    assert response_of(CallToolResult(content=[], structured_content={"sum": 3})) == '{"sum": 3}'


ORDERS = {"orders": [{"id": "A-17", "total": 12}, {"id": "A-18", "total": 30.5}], "more": False}


@pytest.mark.parametrize(
    ("text", "is_added"),
    [
        ("Found 2 orders.", True),
        ("A-17: 12", True),
        (json.dumps(ORDERS, indent=2), False),
        ("| A-17 | 12 |\n| A-18 | 30.5 |", False),
    ],
    ids=["a summary", "a part", "the same as JSON", "the same as a table"],
)
def test_structured_content_reaches_the_model_if_the_text_leaves_some_of_it_out(text, is_added):
    result = CallToolResult(content=[TextContent(text=text)], structured_content=ORDERS)
    assert response_of(result) == (f"{text}\n\n{json.dumps(ORDERS)}" if is_added else text)
    # Staff may choose the text alone.
    assert response_of(result, sends_structured=False) == text


def image(content: bytes, mime_type: str = "image/png") -> ImageContent:
    return ImageContent(data=b64encode(content).decode(), mime_type=mime_type)


PNG = b"\x89PNG\r\n\x1a\n"
OTHERS = [
    image(b"MZ program"),
    image(b"<svg/>", "image/svg+xml"),
    ImageContent(data="?", mime_type="image/png"),
]


def test_images_are_known_by_their_first_bytes_and_their_number_is_bounded():
    webp = b"RIFF\x1a\x00\x00\x00WEBPVP8 "
    kinds = [PNG, b"\xff\xd8\xff\xe0", b"GIF89a", webp]
    result = CallToolResult(content=[*OTHERS, *(image(one, "text/plain") for one in kinds)])
    assert images_of(result) == {3: kinds[0], 4: kinds[1], 5: kinds[2], 6: kinds[3]}
    many = CallToolResult(content=[image(PNG)] * (MAX_IMAGES + 1))
    assert list(images_of(many)) == list(range(MAX_IMAGES))


def test_a_response_names_images_and_says_which_are_not_shown():
    result = CallToolResult(content=[TextContent(text="Look."), image(PNG), OTHERS[0]])
    assert response_of(result, images_of(result)) == (
        "Look.\n\n(An image of 8 bytes, image/png.)\n\n(An image of 10 bytes, image/png, which cannot be shown here.)"
    )
