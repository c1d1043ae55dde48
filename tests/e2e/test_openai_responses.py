"""OpenAI's own client asks for responses, streamed and not, over real processes, while workers die."""

import json
import signal
from typing import Any

import httpx2
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.stack import Stack

pytestmark = pytest.mark.e2e
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def checked(events: Any) -> list[dict[str, Any]]:
    """The events, each valid by its type and numbered from 0."""
    plain = [event.to_dict() for event in events]
    for event in plain:
        EVENT.validate_python(event)
    return plain


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


def replayed(client: openai.OpenAI, name: str, **more: Any) -> list[dict[str, Any]]:
    return checked(client.responses.retrieve(name, stream=True, **more))


def test_a_response_is_answered_read_continued_and_deleted(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"reasoning": "Two bulges."}, {"text": "The Moon "}, {"text": "pulls."})
    first = client.responses.create(
        model="beta", input="Why two tides?", instructions="Be brief.", metadata={"app": "pier"},
        temperature=0.5, max_output_tokens=100,
    )  # fmt: skip
    assert (first.status, first.output_text, first.model) == ("completed", "The Moon pulls.", "beta")
    assert [item.type for item in first.output] == ["reasoning", "message"]
    assert (first.instructions, first.metadata) == ("Be brief.", {"app": "pier"})
    assert (first.temperature, first.max_output_tokens, first.background) == (0.5, 100, False)
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.input_tokens + first.usage.output_tokens
    assert client.responses.retrieve(first.id) == first
    request = stack.upstream.requests[0].body
    assert (request["model"], request["temperature"]) == ("beta", 0.5)
    assert "Be brief." in json.dumps(request["messages"])
    [item] = client.responses.input_items.list(first.id).data
    assert item.to_dict()["content"] == [{"type": "input_text", "text": "Why two tides?"}]


def test_continuations_of_a_response_are_siblings_until_they_are_deleted(
    stack: Stack, client: openai.OpenAI
) -> None:
    first = client.responses.create(model="beta", input="Why two tides?", instructions="Be brief.")
    # Instructions are not inherited.
    second = client.responses.create(input="And the Sun?", previous_response_id=first.id)
    third = client.responses.create(input="And Mars?", previous_response_id=first.id)
    assert {second.previous_response_id, third.previous_response_id} == {first.id}
    assert first.conversation == second.conversation == third.conversation
    requests = [json.dumps(request.body["messages"]) for request in stack.upstream.requests[1:]]
    assert ["And the Sun?" in request for request in requests] == [True, False]
    assert all("Why two tides?" in request for request in requests)
    assert not any("Be brief." in request for request in requests)
    assert first.conversation is not None
    fourth = client.responses.create(input="Go on", conversation=first.conversation.id)
    assert fourth.previous_response_id == third.id

    client.responses.delete(third.id)
    for name in (third.id, fourth.id):
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(name)
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(input="More", previous_response_id=third.id)
    assert (missing.value.code, missing.value.param) == (
        "previous_response_not_found", "previous_response_id",
    )  # fmt: skip
    client.responses.delete(second.id)
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(input="More", conversation=first.conversation.id)


def test_every_event_of_a_stream_is_valid_and_replayed_from_any_number(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.upstream.reply({"reasoning": "Hm. "}, {"words": 40, "every_s": 0.005}, {"text": "🌊 end"})
    with client.responses.stream(model="alpha", input="Count") as stream:
        events = list(stream)
        final = stream.get_final_response()
    live = checked(client.responses.retrieve(final.id, stream=True))
    assert [event.type for event in events] == [event["type"] for event in live]
    assert [event["sequence_number"] for event in live] == list(range(len(live)))
    assert text_of(live) == final.output_text == "".join(f"{n} " for n in range(40)) + "🌊 end"
    done = [event["item"] for event in live if event["type"] == "response.output_item.done"]
    assert live[-1]["response"]["output"] == done
    for after in (0, 1, 7, len(live) - 2, len(live) - 1):
        assert replayed(client, final.id, starting_after=after) == live[after + 1 :]


def test_a_stream_is_the_same_after_its_log_is_gone(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"words": 5}, {"wait": "go"}, {"words": 30})
    stream = client.responses.create(model="alpha", input="Count", stream=True)
    events = []
    for event in stream:
        events.append(event.to_dict())
        stack.upstream.release("go")
    rebuilt = replayed(client, events[0]["response"]["id"])
    assert rebuilt == events


def test_a_tool_of_ours_is_shown_as_a_call_of_a_remote_server(stack: Stack, client: openai.OpenAI) -> None:
    body = {"name": "Clock", "prompt": "Be brief.", "tools": ["current_time"]}
    headers = {"Authorization": f"Token {client.api_key}"}
    httpx2.post(
        f"{stack.base_url}/api/agents/", json=body, headers=headers, trust_env=False
    ).raise_for_status()
    stack.upstream.reply(
        {"text": "Let me see."}, {"call": {"name": "current_time", "arguments": {}}},
        {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}, times=1,
    )  # fmt: skip
    stack.upstream.reply({"text": "It is late."})
    events = checked(client.responses.create(model="agent/clock", input="What time is it?", stream=True))
    final = Response.model_validate(events[-1]["response"])
    assert [item.type for item in final.output] == ["message", "mcp_call", "mcp_call", "message"]
    call = final.output[1].to_dict()
    assert (call["name"], call["status"], call["server_label"]) == ("current_time", "completed", "turnwire")
    assert call["output"]
    assert final.model == "agent/clock"
    assert replayed(client, final.id) == events


@pytest.mark.parametrize("prefills", [False, True])
def test_a_stream_goes_on_where_the_next_worker_does(
    stack: Stack, client: openai.OpenAI, prefills: bool
) -> None:
    stack.manage("shell", "-v", "0", "-c", PREFILL.format(prefills))
    stack.upstream.reply({"words": 30}, {"hang": True}, times=1)
    stack.upstream.reply_by(lambda body: [{"text": continued(body)}])
    stream = client.responses.create(model="gamma", input="Count", stream=True)
    events = []
    for event in stream:
        events.append(event.to_dict())
        if event.type == "response.output_text.delta" and event.delta == "28 ":
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed"
    assert text_of(events) == "".join(f"{n} " for n in range(40))
    assert len(stack.upstream.requests) == 2
    assert replayed(client, events[0]["response"]["id"]) == events


PREFILL = "from chat.models import ModelConfig; ModelConfig.objects.filter(name='gamma').update(supports_prefill={})"


def continued(body: dict[str, Any]) -> str:
    """The forty words, or what follows those that the request begins the answer with."""
    last = body["messages"][-1]
    before = last["content"] if last["role"] == "assistant" else ""
    return "".join(f"{n} " for n in range(40))[len(before) :]


def test_a_stream_that_the_next_worker_contradicts_fails(stack: Stack, client: openai.OpenAI) -> None:
    stack.manage("shell", "-v", "0", "-c", PREFILL.format(False))
    stack.upstream.reply({"text": "Once upon a time there was a "}, {"hang": True}, times=1)
    stack.upstream.reply({"text": "Something else entirely, and longer than before."})
    stream = client.responses.create(model="gamma", input="A story", stream=True)
    events = []
    for event in stream:
        events.append(event.to_dict())
        if event.type == "response.output_text.delta" and event.delta == "was ":
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
    assert text_of(events).startswith("Once upon a time there was a")
    assert "else" not in text_of(events)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    last = Response.model_validate(events[-1]["response"])
    assert (events[-1]["type"], last.status) == ("response.failed", "failed")
    assert last.error is not None
    assert last.error.message.startswith("worker_lost: ")
    assert last.metadata == {"turnwire_code": "worker_lost"}


def test_a_response_in_the_background_is_followed_and_cancelled(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "one two three "}, {"hang": True})
    begun = client.responses.create(model="alpha", input="Count", background=True)
    assert begun.status in ("queued", "in_progress")
    with client.responses.retrieve(begun.id, stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                break
    # A disconnect is not a stop.
    assert client.responses.retrieve(begun.id).status == "in_progress"
    stream = client.responses.retrieve(begun.id, stream=True, starting_after=1)
    assert client.responses.cancel(begun.id).status == "cancelled"
    *_, last = checked(stream)
    assert last["response"]["status"] == "cancelled"
    ended = client.responses.retrieve(begun.id)
    assert ended.to_dict() == last["response"]
    assert client.responses.cancel(begun.id) == ended


def test_what_cuts_or_fails_an_answer_is_its_status(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"text": "Half an"}, {"finish": "length"}, times=1)
    cut = client.responses.create(model="alpha", input="Tell me")
    assert (cut.status, cut.output_text) == ("incomplete", "Half an")
    assert cut.incomplete_details is not None
    assert cut.incomplete_details.reason == "max_output_tokens"
    stack.upstream.reply({"status": 401}, times=1)
    failed = client.responses.create(model="alpha", input="Tell me", metadata={"a": "b"})
    assert failed.status == "failed"
    assert failed.error is not None
    assert (failed.error.code, failed.error.message.partition(":")[0]) == ("server_error", "upstream_auth")
    assert failed.metadata == {"a": "b", "turnwire_code": "upstream_auth"}


def test_a_response_that_is_not_stored_is_not_found_again(stack: Stack, client: openai.OpenAI) -> None:
    answered = client.responses.create(model="alpha", input="Hello", store=False)
    assert (answered.status, answered.store) == ("completed", False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(answered.id)
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(input="More", previous_response_id=answered.id)
    assert missing.value.code == "previous_response_not_found"
    headers = {"Authorization": f"Token {client.api_key}"}
    sessions = httpx2.get(f"{stack.base_url}/api/sessions/", headers=headers, trust_env=False).json()
    assert sessions["results"] == []


def test_a_response_of_another_user_does_not_exist(stack: Stack, client: openai.OpenAI) -> None:
    answered = client.responses.create(model="alpha", input="Hello")
    other = client.with_options(api_key=stack.create_token("bob"))
    for ask in (other.responses.retrieve, other.responses.cancel, other.responses.delete):
        with pytest.raises(openai.NotFoundError):
            ask(answered.id)
    with pytest.raises(openai.NotFoundError):
        other.responses.input_items.list(answered.id)
    assert answered.conversation is not None
    for named in ({"previous_response_id": answered.id}, {"conversation": answered.conversation.id}):
        with pytest.raises(openai.NotFoundError):
            other.responses.create(input="More", **named)


def test_a_stream_is_sent_as_proxies_need_it(stack: Stack, client: openai.OpenAI) -> None:
    with client.responses.with_streaming_response.create(model="alpha", input="Hi", stream=True) as raw:
        assert raw.headers["Content-Type"] == "text/event-stream"
        assert raw.headers["X-Accel-Buffering"] == "no"
        assert raw.headers["Cache-Control"] == "no-store"
