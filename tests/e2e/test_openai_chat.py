"""OpenAI's own client completes chats over real processes, streamed and not, while workers die and clients leave."""

import json
import signal
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.stack import Stack

pytestmark = pytest.mark.e2e
QUESTION = [{"role": "user", "content": "Why two tides?"}]
SESSIONS = "from chat.models import Session; print(*[session.temporary_until is None for session in Session.objects.all()])"


def complete(client: openai.OpenAI, messages: Any = QUESTION, **more: Any) -> ChatCompletion:
    completion = client.chat.completions.create(model="alpha", messages=messages, **more)
    return ChatCompletion.model_validate(completion.to_dict(), strict=True)


def stream(client: openai.OpenAI, **more: Any) -> Iterator[ChatCompletionChunk]:
    for chunk in client.chat.completions.create(model="alpha", messages=QUESTION, stream=True, **more):
        yield ChatCompletionChunk.model_validate(chunk.to_dict(), strict=True)


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def test_the_model_is_given_the_messages_of_the_caller(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "Two bulges."}, {"usage": {"prompt_tokens": 40, "completion_tokens": 3}})
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What pulls the sea?"},
        {"role": "assistant", "content": "The Moon."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Why"}, {"type": "text", "text": "two tides?"}],
        },
    ]
    completion = complete(client, messages, temperature=0.5, max_completion_tokens=20, stop="end")
    [choice] = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("Two bulges.", "stop")
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.total_tokens) == (40, 43)
    [request] = stack.upstream.requests
    roles = [message["role"] for message in request.messages if message["role"] != "system"]
    # Instructions and the date stand behind the question.
    assert roles[:3] == ["user", "assistant", "user"]
    sent = json.dumps(request.messages)
    assert [text in sent for text in ("Be brief.", "What pulls the sea?", "The Moon.")] == [True] * 3
    body = request.body
    assert (body["temperature"], body["stop"], body["model"]) == (0.5, ["end"], "alpha")
    assert stack.manage("shell", "-v", "0", "-c", SESSIONS).split() == ["False"]


def test_a_chat_is_listed_only_if_it_is_stored(stack: Stack, client: openai.OpenAI) -> None:
    history = [*QUESTION, {"role": "assistant", "content": "Two bulges."}, *QUESTION]
    headers = {"Authorization": f"Token {client.api_key}"}
    for is_stored in (False, True):
        complete(client, history, store=is_stored)
        answer = httpx2.get(f"{stack.base_url}/api/sessions/", headers=headers, trust_env=False)
        assert len(answer.json()["results"]) == int(is_stored)


def test_every_chunk_of_a_stream_is_valid_and_the_last_has_the_usage(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.upstream.reply({"reasoning": "Hm."}, {"words": 12, "every_s": 0.005})
    chunks = list(stream(client, stream_options={"include_usage": True}))
    assert text_of(chunks) == "".join(f"{n} " for n in range(12))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason] == [
        "stop"
    ]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert all(chunk.usage is None for chunk in chunks[:-1])
    stack.upstream.reset()
    assert not any(chunk.usage for chunk in stream(client))


def test_thoughts_of_the_model_stand_beside_the_text(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"reasoning": "Two bulges, "}, {"reasoning": "I think."}, {"text": "The Moon."})
    message = complete(client).choices[0].message.to_dict()
    assert (message["reasoning_content"], message["content"]) == ("Two bulges, I think.", "The Moon.")
    deltas = [choice.delta.to_dict() for chunk in stream(client) for choice in chunk.choices]
    assert "".join(str(delta.get("reasoning_content", "")) for delta in deltas) == "Two bulges, I think."
    assert "".join(str(delta.get("content", "")) for delta in deltas) == "The Moon."


def test_a_cut_answer_says_so(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "Half an"}, {"finish": "length"})
    assert complete(client).choices[0].finish_reason == "length"
    assert list(stream(client))[-1].choices[0].finish_reason == "length"


def test_a_model_that_fails_is_an_error_of_the_server(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"status": 401})
    with pytest.raises(openai.InternalServerError) as failed:
        complete(client)
    assert (failed.value.code, failed.value.type) == ("upstream_auth", "server_error")
    chunks: list[ChatCompletionChunk] = []
    with pytest.raises(openai.APIError, match="upstream_auth"):
        chunks.extend(stream(client))
    assert not any(choice.finish_reason for chunk in chunks for choice in chunk.choices)


def test_messages_that_do_not_fit_the_window_are_a_bad_request(stack: Stack, client: openai.OpenAI) -> None:
    stack.manage("shell", "-v", "0", "-c", NARROW.format(2000))
    try:
        with pytest.raises(openai.BadRequestError) as refused:
            complete(client, [{"role": "user", "content": "tide " * 4000}])
    finally:
        stack.manage("shell", "-v", "0", "-c", NARROW.format(128000))
    assert (refused.value.code, refused.value.param) == ("context_too_long", "messages")


NARROW = "from chat.models import ModelConfig; ModelConfig.objects.filter(name='alpha').update(context_window={}, max_output_tokens=500)"


def test_a_stream_outlives_its_worker(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"words": 20}, {"hang": True}, times=1)
    stack.upstream.reply({"words": 30})
    chunks = []
    for chunk in stream(client):
        chunks.append(chunk)
        if chunk.choices[0].delta.content == "18 ":
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
    assert text_of(chunks) == "".join(f"{n} " for n in range(30))
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize("streams", [True, False])
def test_a_client_that_leaves_stops_the_answer(stack: Stack, client: openai.OpenAI, streams: bool) -> None:
    stack.upstream.reply({"text": "one two "}, {"hang": True})
    connection = HTTPConnection("127.0.0.1", stack.port, timeout=60)
    body = {"model": "alpha", "messages": QUESTION, "stream": streams}
    headers = {"Authorization": f"Bearer {client.api_key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    stack.upstream.wait_for_requests(1)
    connection.close()
    stack.upstream.wait_for(lambda: stack.upstream.requests[0].ended == "disconnected")


def test_a_client_that_leaves_a_stored_chat_stops_nothing(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "one two "}, {"wait": "go"}, {"text": "three"})
    with client.chat.completions.create(model="alpha", messages=QUESTION, stream=True, store=True) as chunks:
        run = next(iter(chunks)).id.removeprefix("chatcmpl-")
    stack.upstream.wait_for_requests(1)
    assert client.responses.retrieve(f"resp_{run}").status == "in_progress"
    stack.upstream.release("go")
    answer = client.responses.retrieve(f"resp_{run}", stream=True)
    *_, last = answer
    assert last.to_dict()["response"]["output"][-1]["content"][0]["text"] == "one two three"
