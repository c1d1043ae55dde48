"""The benchmark client, and the subjects that it asks over websockets: the system and its two controls."""

import asyncio
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp
import msgspec
import psutil

TOKEN = re.compile(r" t([0-9a-f]{16})")
# The end of the run. The end of the turn has another type and may follow in a later frame.
STOP = re.compile(r'"type": ?"stop"')
# A run that takes this long is broken.
ANSWER_TIMEOUT_S = 120.0


class BrokenRunError(Exception):
    """The subject lost tokens or reported an error, so its figures are invalid."""


@dataclass
class AnswerTrace:
    """The client's record of one run. Times are nanoseconds of the wall clock; 0 means not yet.

    mark: identifies the question in the upstream's log. started: set by the first token.
    """

    mark: str = field(default_factory=lambda: f"bench-{uuid.uuid4().hex}")
    sent_ns: int = 0
    accepted_ns: int = 0
    first_ns: int = 0
    ended_ns: int = 0
    run: str = ""
    created_ns: list[int] = field(default_factory=list)
    received_ns: list[int] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    def record_frame(self, frame: str) -> None:
        now = time.time_ns()
        timestamps = TOKEN.findall(frame)
        if timestamps:
            self.created_ns.extend([int(timestamp, 16) for timestamp in timestamps])
            self.received_ns.extend([now] * len(timestamps))
            if not self.first_ns:
                self.first_ns = now
                self.started.set()
        if '"stop_reason"' in frame and STOP.search(frame):
            self.ended_ns = now
        if '"accepted"' in frame:
            self.accepted_ns = now
            self.run = find_run_id(frame)
        if '"error"' in frame:
            raise BrokenRunError(frame[:500])

    def check_complete(self, tokens: int) -> None:
        """Raise BrokenRunError unless exactly `tokens` tokens arrived in order."""
        created = self.created_ns
        in_order = created == sorted(created)
        if len(created) != tokens or not in_order:
            raise BrokenRunError(f"{self.mark}: {len(created)} tokens of {tokens}, in order: {in_order}")

    def token_delays_ms(self) -> list[float]:
        pairs = zip(self.created_ns, self.received_ns, strict=True)
        return [(received - created) / 1e6 for created, received in pairs]


class AcceptedReply(msgspec.Struct):
    class Run(msgspec.Struct):
        id: str

    type: str
    runs: list[Run] = []


decode_accepted_reply = msgspec.json.Decoder(AcceptedReply).decode


def find_run_id(frame: str) -> str:
    """Return the id of the first run in an `accepted` reply, on any line of the frame.
    Return an empty string for the controls, which send no id.
    """
    for line in frame.split("\n"):
        if '"accepted"' in line:
            runs = decode_accepted_reply(line).runs
            return runs[0].id if runs else ""
    return ""


@dataclass
class Conversation:
    """An open websocket of one subject. format_question: (model, mark) to the command that asks.

    format_stop: run id to the command that stops.
    """

    socket: aiohttp.ClientWebSocketResponse
    format_question: Callable[[str, str], str]
    format_stop: Callable[[str], str]

    async def send(self, model: str) -> AnswerTrace:
        answer = AnswerTrace()
        answer.sent_ns = time.time_ns()
        await self.socket.send_str(self.format_question(model, answer.mark))
        return answer

    async def follow(self, answer: AnswerTrace) -> AnswerTrace:
        """Receive frames until the run has ended. Raises BrokenRunError or TimeoutError."""
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while not answer.ended_ns or not answer.accepted_ns:
                message = await self.socket.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    raise BrokenRunError(f"the socket closed with {self.socket.close_code}")
                answer.record_frame(message.data)
        return answer

    async def ask_and_follow(self, model: str, tokens: int) -> AnswerTrace:
        answer = await self.follow(await self.send(model))
        answer.check_complete(tokens)
        return answer

    async def close(self) -> None:
        await self.socket.close()


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
