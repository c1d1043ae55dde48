"""The subjects of the benchmarks, the system and its two controls, behind one interface that opens conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp
import msgspec
import psutil

from bench.load import Conversation

Groups = Mapping[str, Sequence[psutil.Process]]


class Subject(Protocol):
    """A subject of the benchmarks.
    counted: processes that carry tokens, whose processor time is compared. uncounted: processes that are only reported.
    """

    name: str
    counted: Groups
    uncounted: Groups

    async def open_conversation(self) -> Conversation: ...


def encode_frame(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()


async def connect(http: aiohttp.ClientSession, url: str, **headers: str) -> aiohttp.ClientWebSocketResponse:
    return await http.ws_connect(url, compress=0, max_msg_size=0, headers=headers)


@dataclass
class Control:
    name: str
    http: aiohttp.ClientSession
    url: str
    counted: Groups
    uncounted: Groups = field(default_factory=dict)

    async def open_conversation(self) -> Conversation:
        return Conversation(
            await connect(self.http, self.url),
            format_question=lambda model, mark: encode_frame(type="send", model=model, text=mark),
            format_stop=lambda _run: encode_frame(type="stop"),
        )


@dataclass
class System:
    """Turnwire through its public API. Sessions are created by REST; everything else uses the websocket."""

    http: aiohttp.ClientSession
    address: str
    token: str
    counted: Groups
    uncounted: Groups
    name: str = "system"

    async def open_conversation(self) -> Conversation:
        headers = {"Authorization": f"Token {self.token}"}
        # It has a title, so that none is requested from the model.
        body = {"title": "Bench"}
        async with self.http.post(
            f"http://{self.address}/api/sessions/", json=body, headers=headers
        ) as reply:
            reply.raise_for_status()
            session = str((await reply.json())["id"])
        return await self.join_session(session)

    async def join_session(self, session: str, **extra: object) -> Conversation:
        """Open a conversation in an existing session. `extra` is sent with every question."""
        socket = await connect(self.http, f"ws://{self.address}/ws/", Authorization=f"Token {self.token}")
        await socket.send_str(encode_frame(type="subscribe", session=session))
        while '"subscribed"' not in await socket.receive_str(timeout=30):
            pass
        return Conversation(
            socket,
            format_question=lambda model, mark: encode_frame(
                type="send", session=session, text=mark, models=[model], **extra
            ),
            format_stop=lambda run: encode_frame(type="stop", run=run),
        )
