"""What is measured: the system and its two controls, each as something one can open conversations with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp
import msgspec
import psutil

from bench.load import Conversation

Groups = Mapping[str, Sequence[psutil.Process]]


class Subject(Protocol):
    """`relay` processes carry the tokens and are counted; those `beside` are only reported."""

    name: str
    relay: Groups
    beside: Groups

    async def open(self) -> Conversation: ...


def frame(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()


async def connect(http: aiohttp.ClientSession, url: str, **headers: str) -> aiohttp.ClientWebSocketResponse:
    return await http.ws_connect(url, compress=0, max_msg_size=0, headers=headers)


@dataclass
class Control:
    name: str
    http: aiohttp.ClientSession
    url: str
    relay: Groups
    beside: Groups = field(default_factory=dict)

    async def open(self) -> Conversation:
        return Conversation(
            await connect(self.http, self.url),
            ask=lambda model, mark: frame(type="send", model=model, text=mark),
            stop=lambda _run: frame(type="stop"),
        )


@dataclass
class System:
    """Turnwire itself, through its public API: a session by REST, everything else over the websocket."""

    http: aiohttp.ClientSession
    address: str
    token: str
    relay: Groups
    beside: Groups
    name: str = "system"

    async def open(self) -> Conversation:
        headers = {"Authorization": f"Token {self.token}"}
        # With a title: a name made by the model is not what is measured.
        body = {"title": "Bench"}
        async with self.http.post(
            f"http://{self.address}/api/sessions/", json=body, headers=headers
        ) as reply:
            reply.raise_for_status()
            session = str((await reply.json())["id"])
        return await self.join(session)

    async def join(self, session: str, **also: object) -> Conversation:
        """Converse in an existing session; `also` goes with every question."""
        socket = await connect(self.http, f"ws://{self.address}/ws/", Authorization=f"Token {self.token}")
        await socket.send_str(frame(type="subscribe", session=session))
        while '"subscribed"' not in await socket.receive_str(timeout=30):
            pass
        return Conversation(
            socket,
            ask=lambda model, mark: frame(type="send", session=session, text=mark, models=[model], **also),
            stop=lambda run: frame(type="stop", run=run),
        )
