"""OpenAI's own client keeps a conversation: it begins it, has it answered, lists its items and deletes it."""

import json

import openai
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.e2e


def texts(client: openai.OpenAI, conversation: str, order: str = "asc") -> list[str]:
    """All texts of messages, by pages of two items."""
    items = client.conversations.items.list(conversation, order=order, limit=2)  # type: ignore[arg-type]
    messages = [item.to_dict() for item in items if item.type == "message"]
    return [part["text"] for message in messages for part in message["content"]]  # type: ignore[attr-defined]


def test_a_conversation_is_answered_listed_and_deleted(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"reasoning": "Two bulges."}, {"text": "The Moon pulls."})
    conversation = client.conversations.create(
        items=[
            {"type": "message", "role": "user", "content": "Are there tides in Brest?"},
            {"type": "message", "role": "assistant", "content": "Two a day."},
            {"type": "message", "role": "user", "content": "I sail there."},
        ],
        metadata={"app": "pier"},
    )
    assert client.conversations.retrieve(conversation.id) == conversation
    assert conversation.metadata == {"app": "pier"}
    assert client.conversations.update(conversation.id, metadata={"app": "quay"}).metadata == {"app": "quay"}
    response = client.responses.create(model="alpha", input="Why?", conversation=conversation.id)
    assert response.conversation is not None
    assert response.conversation.id == conversation.id
    history = json.dumps(stack.upstream.requests[0].body["messages"])
    assert all(text in history for text in ("tides in Brest?", "Two a day.", "I sail there.\\n\\nWhy?"))
    whole = ["Are there tides in Brest?", "Two a day.", "I sail there.\n\nWhy?", "The Moon pulls."]
    assert texts(client, conversation.id) == whole
    assert texts(client, conversation.id, "desc") == whole[::-1]
    newest = client.conversations.items.list(conversation.id, limit=2).data
    assert [item.to_dict() for item in newest[::-1]] == [item.to_dict() for item in response.output]
    reasoning = newest[1].id
    assert reasoning is not None
    assert client.conversations.items.retrieve(reasoning, conversation_id=conversation.id).type == "reasoning"

    assert client.conversations.delete(conversation.id).deleted
    for ask in (client.conversations.retrieve, client.conversations.items.list):
        with pytest.raises(openai.NotFoundError):
            ask(conversation.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="alpha", input="Why?", conversation=conversation.id)


def test_calls_of_functions_are_items_with_their_outputs(stack: Stack, client: openai.OpenAI) -> None:
    calling = {"call": {"name": "tide", "id": "c1", "arguments": {"port": "Brest"}}}
    stack.upstream.reply({"text": "Let me look it up."}, calling, times=1)
    stack.upstream.reply({"text": "At 18:40."})
    conversation = client.conversations.create()
    parameters = {"type": "object", "properties": {"port": {"type": "string"}}}
    tool = {"type": "function", "name": "tide", "description": "x", "parameters": parameters, "strict": False}
    asked = client.responses.create(
        model="alpha",
        input="When?",
        conversation=conversation.id,
        tools=[tool],  # type: ignore[list-item]
    )
    [_, call] = asked.output
    assert call.type == "function_call"
    kinds = [item.type for item in client.conversations.items.list(conversation.id, order="asc")]
    assert kinds == ["message", "message", "function_call"]
    client.responses.create(
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "18:40"}],
        conversation=conversation.id,
    )
    kinds = [item.type for item in client.conversations.items.list(conversation.id, order="asc")]
    assert kinds == ["message", "message", "function_call", "function_call_output", "message"]
    assert texts(client, conversation.id) == ["When?", "Let me look it up.", "At 18:40."]


def test_outputs_that_came_with_the_next_question_are_before_it(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply({"call": {"name": "tide", "id": "c1", "arguments": {}}}, times=1)
    stack.upstream.reply({"text": "At 18:40."})
    conversation = client.conversations.create()
    tool = {"type": "function", "name": "tide", "parameters": {"type": "object"}, "strict": False}
    asked = {"model": "alpha", "conversation": conversation.id, "tools": [tool]}
    client.responses.create(input="When?", **asked)  # type: ignore[call-overload]
    output = {"type": "function_call_output", "call_id": "c1", "output": "18:40"}
    question = {"role": "user", "content": "And then?"}
    client.responses.create(input=[output, question], **asked)  # type: ignore[call-overload]
    kinds = [item.type for item in client.conversations.items.list(conversation.id, order="asc")]
    assert kinds == ["message", "function_call", "function_call_output", "message", "message"]
