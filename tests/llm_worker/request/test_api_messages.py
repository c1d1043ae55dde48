"""Messages in the format of OpenAI-compatible servers."""

import pytest

from chat.transcript.entries import Call, Entry, Image
from chat.transcript.tokens import SENT_AT_TOKENS, picture_tokens
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import Message, to_api_messages
from tests.llm_worker.notation import SENT_AT

pytestmark = pytest.mark.pure

PHOTO = Image("i", "photo\n1.png", "data:image/png;base64,AAAA", 640, 480)
DATE = "<sent_at>2026-11-21 14:05 UTC</sent_at>"


def words(text: str, stored: int) -> int:
    return stored or len(text.split())


def test_content_is_a_plain_string():
    assert to_api_messages([Message("S", "Be brief."), Message("R", "Now.")]) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Now."},
    ]


def test_calls_and_responses_have_the_api_format():
    calls = (Call("1", "search", {"q": "ä"}, "never sent"), Call("2", "clock", {}))
    messages = [Message("TC", "Let me see.", calls), Message("TR", "Noon.", tool_call_id="2")]
    assert to_api_messages(messages) == [
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "ä"}'}},
                {"id": "2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "Noon.", "tool_call_id": "2"},
    ]


def test_calls_without_text_have_null_content():
    [wire] = to_api_messages([Message("TC", "", (Call("1", "clock", {}),))])
    assert wire["content"] is None


def test_images_are_content_parts_after_the_text():
    seen = MessageRenderer(words).render_user(Entry("1", "user", "Look", SENT_AT, images=(PHOTO,)))
    [wire] = to_api_messages([seen])
    assert wire == {
        "role": "user",
        "content": [
            {"type": "text", "text": f"Look\n\n{DATE}"},
            {"type": "image_url", "image_url": {"url": PHOTO.url}},
        ],
    }


@pytest.mark.parametrize("text", ["Look", ""])
def test_a_model_without_vision_gets_one_line_for_each_image(text):
    seen = MessageRenderer(words, sees_images=False).render_user(
        Entry("1", "user", text, SENT_AT, images=(PHOTO, PHOTO))
    )
    [wire] = to_api_messages([seen])
    line = "[Image left out, this model cannot see images: photo 1.png]"
    assert wire["content"].lstrip() == f"{text}\n\n{line}\n{line}\n\n{DATE}".lstrip()
    assert not wire["content"].startswith("\n")


def test_an_image_without_content_is_named_in_one_line_to_a_model_that_sees():
    gone = Image("j", "moon.png", "", 0, 0)
    seen = MessageRenderer(words).render_user(Entry("1", "user", "Look", SENT_AT, images=(gone, PHOTO)))
    [wire] = to_api_messages([seen])
    text, picture = wire["content"]
    assert text["text"] == f"Look\n\n[Image left out, its content cannot be read: moon.png]\n\n{DATE}"
    assert picture["image_url"]["url"] == PHOTO.url


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        pytest.param(16, 16, 1 + 32, id="one patch"),
        pytest.param(17, 16, 2 + 32, id="part of a patch is one"),
        pytest.param(640, 480, 40 * 30 + 32, id="small"),
        pytest.param(2048, 2048, 128 * 128 + 32, id="as large as is sent"),
        pytest.param(4096, 2048, 128 * 64 + 32, id="scaled by its long side"),
        pytest.param(1000, 4096, 32 * 128 + 32, id="whichever that is"),
        pytest.param(50_000, 1, 128 + 32, id="a line"),
    ],
)
def test_the_tokens_of_an_image_follow_its_size(width, height, tokens):
    image = Image("i", "i", "data:", width, height)
    assert picture_tokens(image.width_px, image.height_px) == tokens
    message = MessageRenderer(words).render_user(Entry("1", "user", "", SENT_AT, images=(image, image)))
    assert message.tokens == 2 * tokens + SENT_AT_TOKENS + 4
