"""Control "naive": the straightforward relay, with the async SDK's stream and one JSON frame per chunk.

It is one uvicorn process with a Channels consumer that relays to its own websocket: no queue, no database, no
resumption. It is frozen: a change would make older figures incomparable.
"""

import asyncio
import os
from typing import Any

from django.conf import settings

settings.configure()

from channels.generic.websocket import AsyncJsonWebsocketConsumer  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

client = AsyncOpenAI(base_url=os.environ["LLM_BASE_URL"], api_key="none")


class Naive(AsyncJsonWebsocketConsumer):
    relaying: asyncio.Task[None] | None = None

    async def receive_json(self, content: dict[str, Any], **_unused: Any) -> None:
        if content["type"] == "send":
            await self.send_json({"type": "accepted"})
            self.relaying = asyncio.create_task(self.relay(content["model"], content["text"]))
        elif content["type"] == "stop" and self.relaying:
            self.relaying.cancel()

    async def relay(self, model: str, text: str) -> None:
        messages: Any = [{"role": "user", "content": text}]
        stream = await client.chat.completions.create(
            model=model, messages=messages, stream=True, stream_options={"include_usage": True}
        )
        async with stream:
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    await self.packet({"type": "message_delta", "text": chunk.choices[0].delta.content})
        await self.packet({"type": "stop", "stop_reason": "finished"})

    async def packet(self, obj: dict[str, Any]) -> None:
        await self.send_json({"type": "packet", "obj": obj})

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        if self.relaying:
            self.relaying.cancel()


application = Naive.as_asgi()
