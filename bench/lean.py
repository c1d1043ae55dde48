"""Control "lean": the cheapest relay in Python. Raw bytes of the SDK's aiohttp transport, own SSE parsing, msgspec.

It is one uvicorn process with a Channels consumer that relays to its own websocket: no queue, no database, no
resumption. It is frozen: a change would make older figures incomparable.
"""

import asyncio
import os
from collections.abc import Iterable
from typing import Any

import httpx2
import msgspec
from django.conf import settings

settings.configure()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from openai import AsyncOpenAI, DefaultAioHttpClient  # noqa: E402


class Delta(msgspec.Struct):
    content: str | None = None


class Choice(msgspec.Struct):
    delta: Delta


class Chunk(msgspec.Struct):
    choices: list[Choice]


class Command(msgspec.Struct):
    type: str
    model: str = ""
    text: str = ""


class MessageDelta(msgspec.Struct, tag_field="type", tag="message_delta"):
    text: str


class Stop(msgspec.Struct, tag_field="type", tag="stop"):
    stop_reason: str


class Packet(msgspec.Struct, tag_field="type", tag="packet"):
    obj: MessageDelta | Stop


encode = msgspec.json.Encoder().encode
decode_chunk = msgspec.json.Decoder(Chunk).decode
decode_command = msgspec.json.Decoder(Command).decode
clients: list[AsyncOpenAI] = []


def client() -> AsyncOpenAI:
    """Return the client. It is created on first use because aiohttp needs a running event loop."""
    if not clients:
        http = DefaultAioHttpClient(limits=httpx2.Limits(max_connections=2000, max_keepalive_connections=200))
        clients.append(AsyncOpenAI(base_url=os.environ["LLM_BASE_URL"], api_key="none", http_client=http))
    return clients[0]


class Lean(AsyncWebsocketConsumer):
    relaying: asyncio.Task[None] | None = None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        command = decode_command(text_data or bytes_data or "")
        if command.type == "send":
            await self.send('{"type":"accepted"}')
            self.relaying = asyncio.create_task(self.relay(command))
        elif command.type == "stop" and self.relaying:
            self.relaying.cancel()

    async def relay(self, command: Command) -> None:
        messages: Any = [{"role": "user", "content": command.text}]
        asked = client().chat.completions.with_streaming_response.create(
            model=command.model, messages=messages, stream=True, stream_options={"include_usage": True}
        )
        async with asked as response:
            rest = b""
            async for data in response.iter_bytes():
                *events, rest = (rest + data).split(b"\n\n")
                for text in contents(events):
                    await self.packet(MessageDelta(text))
        await self.packet(Stop("finished"))

    async def packet(self, obj: MessageDelta | Stop) -> None:
        await self.send(encode(Packet(obj)).decode())

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        if self.relaying:
            self.relaying.cancel()


def contents(events: Iterable[bytes]) -> Iterable[str]:
    for event in events:
        if event != b"data: [DONE]":
            for choice in decode_chunk(event[6:]).choices:
                if choice.delta.content:
                    yield choice.delta.content


application = Lean.as_asgi()
