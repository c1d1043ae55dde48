"""OpenAI's own client carries out the calls of its functions, between requests, over real processes."""

import json
import signal
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response

from tests.e2e.test_openai_responses import checked, replayed
from tests.stack import Stack

pytestmark = pytest.mark.e2e
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather.",
    "parameters": PARAMETERS,
}
NESTED: Any = {"type": "function", "function": {name: WEATHER[name] for name in ("name", "parameters")}}
QUESTION = "Rain in Oslo and Kyiv?"


def weather(city: str, call_id: str) -> dict[str, Any]:
    return {"call": {"name": "weather", "id": call_id, "arguments": {"city": city}}}


def output(call_id: str, text: str) -> Any:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def told(stack: Stack) -> list[tuple[str, Any]]:
    """What the latest request told the model of the conversation, without instructions."""
    messages = [message for message in stack.upstream.requests[-1].messages if message["role"] != "system"]
    return [
        (message["role"], message.get("content") or [call["id"] for call in message["tool_calls"]])
        for message in messages
    ]


def test_outputs_of_parallel_calls_are_answered_and_every_stream_is_replayed(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.upstream.reply(
        {"text": "I look."}, weather("Oslo", "c1"), weather("Kyiv", "c2"), after_tools=0, times=1
    )
    stack.upstream.reply({"text": "Rain in "}, {"text": "Oslo."}, after_tools=2)
    asked = checked(client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER], stream=True))
    first = Response.model_validate(asked[-1]["response"])
    assert (first.status, first.tools[0].to_dict()) == ("completed", {**WEATHER, "strict": None})
    assert [item.type for item in first.output] == ["message", "function_call", "function_call"]
    calls = [item.to_dict() for item in first.output[1:]]
    assert [(call["call_id"], json.loads(call["arguments"])) for call in calls] == [
        ("c1", {"city": "Oslo"}),
        ("c2", {"city": "Kyiv"}),
    ]
    assert replayed(client, first.id) == asked

    outputs = [output("c1", "Rain"), output("c2", "")]
    answered = checked(
        client.responses.create(
            input=outputs,
            previous_response_id=first.id,
            instructions="Be brief.",
            tools=[WEATHER],
            stream=True,
        )
    )
    second = Response.model_validate(answered[-1]["response"])
    assert (second.output_text, [item.type for item in second.output]) == ("Rain in Oslo.", ["message"])
    assert (second.previous_response_id, second.instructions) == (first.id, "Be brief.")
    assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "(no output)"]
    for after in (0, 3, len(answered) - 2):
        assert replayed(client, second.id, starting_after=after) == answered[after + 1 :]

    # Another continuation is a sibling; what follows the answer knows the calls.
    other = client.responses.create(input=outputs, previous_response_id=first.id)
    assert other.output_text == "Rain in Oslo."
    stack.upstream.reply({"text": "So take a coat."}, contains="What now?")
    third = client.responses.create(input="What now?", previous_response_id=second.id)
    assert (third.output_text, third.previous_response_id) == ("So take a coat.", second.id)
    assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "(no output)"]


@pytest.mark.parametrize("names", ["response", "conversation"])
def test_outputs_may_come_with_the_next_question(stack: Stack, client: openai.OpenAI, names: str) -> None:
    stack.upstream.reply(
        {"text": "I look."}, weather("Oslo", "c1"), weather("Kyiv", "c2"), contains="Rain", times=1
    )
    stack.upstream.reply({"text": "Take a coat."}, contains="What now?")
    first = client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER])
    conversation: Any = first.conversation
    named: Any = (
        {"previous_response_id": first.id} if names == "response" else {"conversation": conversation.id}
    )
    asked: Any = {"role": "user", "content": "What now?"}
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(input=[output("c1", "Rain"), asked], **named)
    assert refused.value.param == "input"
    outputs = [output("c1", "Rain"), output("c2", "Sun")]
    second = client.responses.create(input=[*outputs, asked], **named)
    assert (second.output_text, second.previous_response_id) == ("Take a coat.", first.id)
    assert [role for role, _ in told(stack)][-5:] == ["user", "assistant", "tool", "tool", "user"]
    assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "Sun"]
    # What the answer has read stays as it was.
    other = [output("c1", "Snow"), output("c2", "Sun")]
    with pytest.raises(openai.BadRequestError, match="other outputs"):
        client.responses.create(input=[*other, asked], previous_response_id=first.id)
    beside = client.responses.create(input=[*outputs, asked], previous_response_id=first.id)
    assert beside.output_text == "Take a coat."


@pytest.mark.parametrize(
    "outputs",
    [[output("c1", "Rain")], [output("c1", "Rain"), output("c3", "Sun")], [output("c3", "Sun")]],
    ids=["too few", "another", "unknown"],
)
def test_outputs_are_those_of_the_calls(stack: Stack, client: openai.OpenAI, outputs: Any) -> None:
    stack.upstream.reply(weather("Oslo", "c1"), weather("Kyiv", "c2"))
    first = client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER])
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(input=outputs, previous_response_id=first.id)
    assert refused.value.param == "input"
    with pytest.raises(openai.NotFoundError):
        client.responses.create(input=outputs, previous_response_id=f"resp_{'0' * 32}")


def test_a_whole_conversation_may_be_told_with_its_calls(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "Take a coat."})
    items: Any = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]},
        {"role": "user", "content": QUESTION},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'},
        output("c1", "Rain"),
    ]
    answer = client.responses.create(model="alpha", input=items, tools=[WEATHER])
    assert answer.output_text == "Take a coat."
    assert [role for role, _ in told(stack)[:3]] == ["user", "assistant", "user"]
    assert [(role, text) for role, text in told(stack) if role in ("assistant", "tool")][1:] == [
        ("assistant", ["c1"]),
        ("tool", "Rain"),
    ]
    assert replayed(client, answer.id)[-1]["response"]["output"] == [item.to_dict() for item in answer.output]


def test_the_model_must_call_what_is_required_of_it_once(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply(weather("Oslo", "c1"), after_tools=0)
    first = client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER], tool_choice="required")
    assert first.tool_choice == "required"
    assert stack.upstream.requests[-1].body["tool_choice"] == "required"
    client.responses.create(input=QUESTION, model="alpha", tools=[WEATHER], tool_choice="none")
    assert "tools" not in stack.upstream.requests[-1].body


def test_calls_of_ours_run_before_calls_are_handed_over(stack: Stack, client: openai.OpenAI) -> None:
    body = {"name": "Weather clock", "prompt": "Be brief.", "tools": ["current_time"]}
    headers = {"Authorization": f"Token {client.api_key}"}
    httpx2.post(
        f"{stack.base_url}/api/agents/", json=body, headers=headers, trust_env=False
    ).raise_for_status()
    stack.upstream.reply(
        weather("Oslo", "c1"), {"call": {"name": "current_time", "arguments": {}}}, after_tools=0, times=1
    )
    stack.upstream.reply({"text": "Rain tonight."}, after_tools=2)
    asked = checked(
        client.responses.create(model="agent/weather clock", input=QUESTION, tools=[WEATHER], stream=True)
    )
    first = Response.model_validate(asked[-1]["response"])
    assert [item.type for item in first.output] == ["function_call", "mcp_call"]
    assert replayed(client, first.id) == asked
    second = client.responses.create(input=[output("c1", "Rain")], previous_response_id=first.id)
    assert (second.output_text, len(second.output)) == ("Rain tonight.", 1)


def test_arguments_too_long_for_a_packet_are_whole(stack: Stack, client: openai.OpenAI) -> None:
    city = "Llanfair " * 2_000
    stack.upstream.reply(weather(city, "c1"), weather("Oslo", "c2"))
    asked = checked(client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER], stream=True))
    calls = [json.loads(item["arguments"]) for item in asked[-1]["response"]["output"]]
    assert calls == [{"city": city}, {"city": "Oslo"}]
    assert replayed(client, asked[0]["response"]["id"]) == asked


def test_outputs_continue_a_conversation(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply(weather("Oslo", "c1"), after_tools=0)
    stack.upstream.reply({"text": "Rain."}, after_tools=1)
    first = client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER])
    assert first.conversation is not None
    second = client.responses.create(input=[output("c1", "Rain")], conversation=first.conversation.id)
    assert (second.output_text, second.previous_response_id) == ("Rain.", first.id)


def test_a_function_takes_the_place_of_a_tool_of_its_name(stack: Stack, client: openai.OpenAI) -> None:
    """Also of read_file, which is offered for the rest of a conversation once it was called."""
    stack.upstream.reply({"text": "Two."})
    items: Any = [
        {"role": "user", "content": "Read it"},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{}"},
        output("c1", "One."),
    ]
    client.responses.create(model="alpha", input=items, tools=[{**WEATHER, "name": "read_file"}])
    [offered] = stack.upstream.requests[-1].body["tools"]
    assert offered["function"]["description"] == WEATHER["description"]


def test_calls_that_the_model_writes_wrongly_are_its_own_to_mend(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"call": {"name": "weather", "arguments": {"town": 1}}}, after_tools=0, times=1)
    stack.upstream.reply(weather("Oslo", "c2"), after_tools=1)
    asked = checked(client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER], stream=True))
    assert [item["call_id"] for item in asked[-1]["response"]["output"]] == ["c2"]
    assert replayed(client, asked[0]["response"]["id"]) == asked


def test_a_worker_that_is_killed_loses_no_call_and_doubles_none(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "I look."}, weather("Oslo", "c1"), {"wait": "killed"}, times=1)
    stack.upstream.reply({"text": "I look."}, weather("Oslo", "c1"))
    events = []
    for event in client.responses.create(model="alpha", input=QUESTION, tools=[WEATHER], stream=True):
        events.append(event.to_dict())
        if event.type == "response.output_text.delta" and len(stack.upstream.requests) == 1:
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
            stack.upstream.release("killed")
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["message", "function_call"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert replayed(client, events[0]["response"]["id"]) == events


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_chat_hands_calls_over_and_is_told_their_outputs(
    stack: Stack, client: openai.OpenAI, is_streamed: bool
) -> None:
    stack.upstream.reply({"text": "I look."}, weather("Oslo", "c1"), weather("Kyiv", "c2"), times=1)
    stack.upstream.reply({"text": "Rain in Oslo."})
    messages: Any = [{"role": "user", "content": QUESTION}]
    message = chat(client, messages, is_streamed)
    assert (message["content"], message["finish_reason"]) == ("I look.", "tool_calls")
    assert [(call["id"], call["function"]["arguments"]) for call in message["tool_calls"]] == [
        ("c1", '{"city":"Oslo"}'),
        ("c2", '{"city":"Kyiv"}'),
    ]
    messages.append({"role": "assistant", "content": "I look.", "tool_calls": message["tool_calls"]})
    messages += [
        {"role": "tool", "tool_call_id": "c2", "content": "Sun"},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
    ]
    answer = chat(client, messages, is_streamed)
    assert (answer["content"], answer["finish_reason"]) == ("Rain in Oslo.", "stop")
    assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "Sun"]
    messages += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "And now?"}]
    assert chat(client, messages, is_streamed)["content"] == "Rain in Oslo."
    assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "Sun"]


def chat(client: openai.OpenAI, messages: Any, is_streamed: bool) -> dict[str, Any]:
    """The message of a completion, with its finish_reason."""
    request: Any = {"model": "alpha", "messages": messages, "tools": [NESTED]}
    if not is_streamed:
        completion = client.chat.completions.create(**request)
        [choice] = ChatCompletion.model_validate(completion.to_dict(), strict=True).choices
        return choice.message.to_dict() | {"finish_reason": choice.finish_reason}
    with client.chat.completions.stream(**request) as stream:
        for event in stream:
            if event.type == "chunk":
                ChatCompletionChunk.model_validate(event.chunk.to_dict(), strict=True)
        [final] = stream.get_final_completion().choices
    return final.message.to_dict() | {"finish_reason": final.finish_reason}
