"""What is counted before a response is what its model's request is measured with, in OpenAI's own client."""

from uuid import UUID

import httpx2
import openai
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.e2e
COUNTED = """
from chat.models import ModelConfig
ModelConfig.objects.get_or_create(name="counted", defaults={"tokenizer": "o200k_base"})
"""


def used(stack: Stack, client: openai.OpenAI, response: str) -> int:
    """How much of the window the request of a response has filled."""
    headers = {"Authorization": f"Token {client.api_key}"}
    address = f"{stack.base_url}/api/runs/{UUID(response.removeprefix('resp_'))}/"
    tokens: int = httpx2.get(address, headers=headers, trust_env=False).json()["context"]["used"]
    return tokens


def test_a_question_and_its_continuation_are_counted_as_they_are_sent(
    stack: Stack, client: openai.OpenAI
) -> None:
    stack.manage("shell", "-v", "0", "-c", COUNTED)
    stack.upstream.reply({"text": "The Moon pulls, and so does the Sun. " * 10})
    asked: dict[str, object] = {"model": "counted", "input": "Why are there two tides a day?"}
    previous: dict[str, object] = {}
    for instructions in ("Be brief.", "Be exact, and name the forces."):
        request = {**asked, **previous, "instructions": instructions}
        counted = client.responses.input_tokens.count(**request)  # type: ignore[arg-type]
        response = client.responses.create(**request)  # type: ignore[call-overload]
        assert counted.input_tokens == used(stack, client, response.id)
        previous = {"previous_response_id": response.id}
    assert len(stack.upstream.requests) == 2


def test_outputs_of_functions_are_counted_as_they_are_sent(stack: Stack, client: openai.OpenAI) -> None:
    stack.manage("shell", "-v", "0", "-c", COUNTED)
    stack.upstream.reply({"text": "At 18:40."})
    history = [
        {"role": "user", "content": "When is high water?"},
        {"type": "function_call", "call_id": "c1", "name": "tide", "arguments": '{"port": "Brest"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "High water is at 18:40. " * 10},
    ]
    tool = {"type": "function", "name": "tide", "parameters": {"type": "object"}, "strict": False}
    counted, sent = [], []
    for asked in (history[:1], history):
        request: dict[str, object] = {"model": "counted", "input": asked, "tools": [tool]}
        counted.append(client.responses.input_tokens.count(**request).input_tokens)  # type: ignore[arg-type]
        response = client.responses.create(**request)  # type: ignore[call-overload]
        sent.append(used(stack, client, response.id))
    # The first request of a chat is counted without what prompts say of its tools; arguments are counted by themselves.
    assert abs((counted[1] - counted[0]) - (sent[1] - sent[0])) <= 1
