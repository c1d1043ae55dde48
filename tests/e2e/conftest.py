"""Fixtures of the tests with files: the process that reads them, models of every size, and a chat."""

from collections.abc import AsyncIterator, Iterator

import openai
import pytest

from tests.e2e.client import Client
from tests.e2e.file_chat import FileChat, answers
from tests.stack import Stack

# Counted by their own encoding, so that what the scripted server reports as usage moves no budget.
MODELS = """
from chat.models import ModelConfig
fields = {"compact": {"context_window": 8000}, "sighted": {"supports_vision": True}, "toolless": {"supports_tools": False, "context_window": 8000}}
for name, more in fields.items():
    ModelConfig.objects.get_or_create(name=name, defaults={"tokenizer": "cl100k_base"} | more)
"""


@pytest.fixture
def client(stack: Stack) -> Iterator[openai.OpenAI]:
    """OpenAI's own client, with a token of alice."""
    token = stack.create_token("alice")
    with openai.OpenAI(base_url=f"{stack.base_url}/v1", api_key=token, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def reading(running_stack: Stack) -> Iterator[Stack]:
    """With the process that reads files."""
    running_stack.manage("shell", "-v", "0", "-c", MODELS)
    running_stack.start("ingest")
    yield running_stack
    process = running_stack.processes.pop("ingest")
    process.terminate()
    process.wait(30)


@pytest.fixture
async def chat(reading: Stack, stack: Stack) -> AsyncIterator[FileChat]:
    stack.upstream.reply_by(answers)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        chat = FileChat(stack, alice, socket)
        await chat.open()
        yield chat
