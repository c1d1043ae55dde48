"""The demo model as the vendor SDK sees it."""

import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest
import uvicorn

from config.embedded import find_suitable_port
from demo.answers import BRIEF_NAME, NAME, build_answer
from demo.server import application

HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is *this* <b>a test</b>?"}]


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    port = find_suitable_port("127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    with openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=50) as client:
        yield client
    server.should_exit = True
    thread.join()


def test_it_says_which_models_it_has(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [NAME, BRIEF_NAME]


def test_its_answer_tells_how_to_connect_a_model_and_quotes_the_question(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model=NAME, messages=HELLO)
    text = answer.choices[0].message.content
    assert "Model providers" in text
    assert r"Is \*this\* \<b\>a test\</b\>?" in text


def test_a_stream_has_the_same_text_and_ends_with_usage(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="mock-120x0", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    texts = [
        chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content
    ]
    assert "".join(texts) == build_answer("mock-120x0", "").text
    assert len(texts) == 120
    assert chunks[-1].usage.completion_tokens == 120
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


def test_without_being_asked_a_stream_has_no_usage(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="mock-3x0", messages=HELLO, stream=True))
    assert [chunk.usage for chunk in chunks if chunk.usage] == []


@pytest.mark.parametrize(
    "body", [{}, {"model": "demo"}, {"model": "demo", "messages": 3}, {"model": "demo", "messages": ["x"]}]
)
def test_nonsense_is_refused(client: openai.OpenAI, body: dict[str, object]) -> None:
    with pytest.raises(openai.BadRequestError):
        client.post("/chat/completions", body=body, cast_to=object)


TIME = [{"type": "function", "function": {"name": "current_time", "parameters": {"type": "object"}}}]
SEARCH = [
    {"type": "function", "function": {"name": "knowledge_base_search", "parameters": {"type": "object"}}}
]
FOUND = '{"documents": [{"document": 3, "title": "keeper.md", "contents": "The lamp is lit at dusk."}]}'
CALL = {"id": "call_1", "type": "function", "function": {"name": "current_time", "arguments": "{}"}}


def ask(client: openai.OpenAI, *messages: dict[str, object], **options: object) -> list[Any]:
    """The deltas of an answer, and why it ended."""
    stream = client.chat.completions.create(model=NAME, messages=list(messages), stream=True, **options)  # type: ignore[call-overload]
    choices = [choice for chunk in stream for choice in chunk.choices]
    return [*(choice.delta for choice in choices), choices[-1].finish_reason]


def test_the_question_about_rectangles_shows_reasoning_before_the_answer(client: openai.OpenAI) -> None:
    *deltas, finish = ask(client, {"role": "user", "content": "How many rectangles are in a grid?"})
    thought = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    answer = "".join(delta.content or "" for delta in deltas)
    assert "four vertical lines" in thought
    assert "36 rectangles" in answer
    assert finish == "stop"


def test_the_time_is_asked_by_the_tool_and_told(client: openai.OpenAI) -> None:
    question = {"role": "user", "content": "What time is it?"}
    *deltas, finish = ask(client, question, tools=TIME)
    [called] = [call.function for delta in deltas for call in delta.tool_calls or ()]
    assert (called.name, called.arguments, finish) == ("current_time", "{}", "tool_calls")
    result = {"role": "tool", "tool_call_id": "call_1", "content": "Thursday, 12:00"}
    *deltas, finish = ask(client, question, {"role": "assistant", "tool_calls": [CALL]}, result, tools=TIME)
    assert "Thursday, 12:00" in "".join(delta.content or "" for delta in deltas)
    assert "Date and time" in build_answer(NAME, "What time is it?").text


def test_a_reminder_behind_the_result_of_a_search_is_no_question(client: openai.OpenAI) -> None:
    question = {"role": "user", "content": "When is the lamp lit?"}
    called = {"role": "assistant", "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": FOUND}
    reminder = {"role": "user", "content": "Documents have been found. Cite them."}
    *deltas, finish = ask(client, question, called, result, reminder, tools=SEARCH)
    answer = "".join(delta.content or "" for delta in deltas)
    assert ("> The lamp is lit at dusk. [3]" in answer, finish) == (True, "stop")
    said = {"role": "assistant", "content": answer}
    *_, finish = ask(client, question, called, result, said, reminder, tools=SEARCH)
    assert finish == "tool_calls"
    *_, finish = ask(client, question, tools=SEARCH, tool_choice="none")
    assert finish == "stop"
