"""Files in the requests of OpenAI's own client reach the model, and are the user's like uploads, over real processes."""

import json
from base64 import b64encode
from typing import Any

import openai
import pytest

from tests.ingest.documents import picture
from tests.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240), pytest.mark.usefixtures("reading")]


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


PIER = {"type": "image_url", "image_url": {"url": data_url("image/jpeg", picture())}}
TIDES = {"filename": "tides.txt", "file_data": data_url("text/plain", b"Two tides a day.")}
ASKED: Any = {"role": "user", "content": [{"type": "text", "text": "What?"}, PIER]}


def pictures(stack: Stack) -> list[int]:
    """The number of pictures in each message that the model was sent."""
    return [json.dumps(message).count("data:image") for message in stack.upstream.requests[-1].messages]


def test_pictures_of_a_told_conversation_are_sent_with_their_messages(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.upstream.reply({"text": "A pier."})
    again = {
        "role": "user",
        "content": [{"type": "text", "text": "Sure?"}, PIER, {"type": "file", "file": TIDES}],
    }
    messages: Any = [ASKED, {"role": "assistant", "content": "A pier."}, again]
    answer = client.chat.completions.create(model="sighted", messages=messages)
    assert answer.choices[0].message.content == "A pier."
    assert sum(pictures(stack)) == 2
    assert "Two tides a day." in json.dumps(stack.upstream.requests[-1].messages)


def test_a_stored_response_has_the_picture_for_all_that_continues_it(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.upstream.reply({"text": "A pier."})
    pier = {"type": "input_image", "image_url": PIER["image_url"]["url"], "detail": "auto"}
    content: Any = [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "What?"}, pier, {"type": "input_file", **TIDES}],
        }
    ]
    first = client.responses.create(model="sighted", input=content)
    assert first.output_text == "A pier."
    [question] = client.responses.input_items.list(first.id).data
    assert [part.type for part in question.content] == ["input_text", "input_image", "input_file"]
    client.responses.create(model="sighted", input="Sure?", previous_response_id=first.id)
    assert sum(pictures(stack)) == 1


def test_a_file_that_cannot_be_read_is_refused_and_not_kept(client: openai.OpenAI) -> None:
    broken = {
        "type": "image_url",
        "image_url": {"url": data_url("image/png", b"\x89PNG\r\n\x1a\n and no more")},
    }
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": "What?"}, broken]}]
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        client.chat.completions.create(model="sighted", messages=messages)
    assert (refused.value.code, refused.value.param) == ("file_failed", "messages")


def test_a_picture_alone_is_a_question(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "A pier."})
    alone: Any = {"role": "user", "content": [PIER]}
    history: Any = [alone, {"role": "assistant", "content": "A pier."}, alone]
    answer = client.chat.completions.create(model="sighted", messages=history)
    assert answer.choices[0].message.content == "A pier."
    assert sum(pictures(stack)) == 2
    pier: Any = {"type": "input_image", "image_url": PIER["image_url"]["url"], "detail": "auto"}
    response = client.responses.create(model="sighted", input=[{"role": "user", "content": [pier]}])
    assert response.output_text == "A pier."
    assert sum(pictures(stack)) == 1
    [question] = client.responses.input_items.list(response.id).data
    assert [part.type for part in question.content] == ["input_image"]
