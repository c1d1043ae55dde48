"""The client's side: sockets that ask, and what each token's own timestamp says about the way it took."""

import asyncio
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
import msgspec

TOKEN = re.compile(r" t([0-9a-f]{16})")
# The run's own end, not that of the turn, which may follow in a later frame.
STOP = re.compile(r'"type": ?"stop"')
# Nothing a benchmark asks for takes this long; a run that does is broken.
ANSWER_TIMEOUT_S = 120.0


class BrokenRunError(Exception):
    """The subject lost tokens or reported an error: its figures would be worthless."""


@dataclass
class Answer:
    """One run as its client saw it; nanoseconds of the wall clock, 0: not yet."""

    mark: str = field(default_factory=lambda: f"bench-{uuid.uuid4().hex}")
    sent_ns: int = 0
    accepted_ns: int = 0
    first_ns: int = 0
    ended_ns: int = 0
    run: str = ""
    born_ns: list[int] = field(default_factory=list)
    seen_ns: list[int] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, frame: str) -> None:
        now = time.time_ns()
        stamps = TOKEN.findall(frame)
        if stamps:
            self.born_ns.extend([int(stamp, 16) for stamp in stamps])
            self.seen_ns.extend([now] * len(stamps))
            if not self.first_ns:
                self.first_ns = now
                self.begun.set()
        if '"stop_reason"' in frame and STOP.search(frame):
            self.ended_ns = now
        if '"accepted"' in frame:
            self.accepted_ns = now
            self.run = run_of(frame)
        if '"error"' in frame:
            raise BrokenRunError(frame[:500])

    def check(self, tokens: int) -> None:
        born = self.born_ns
        if len(born) != tokens or born != sorted(born):
            raise BrokenRunError(
                f"{self.mark}: {len(born)} tokens of {tokens}, in order: {born == sorted(born)}"
            )

    def delays_ms(self) -> list[float]:
        return [(seen - born) / 1e6 for born, seen in zip(self.born_ns, self.seen_ns, strict=True)]


class Accepted(msgspec.Struct):
    class Run(msgspec.Struct):
        id: str

    type: str
    runs: list[Run] = []


decode_accepted = msgspec.json.Decoder(Accepted).decode


def run_of(frame: str) -> str:
    """The id of the first run of an `accepted` reply, wherever in the frame it is; empty: a control's reply."""
    for line in frame.split("\n"):
        if '"accepted"' in line:
            runs = decode_accepted(line).runs
            return runs[0].id if runs else ""
    return ""


@dataclass
class Conversation:
    """One open socket. `ask` says how its server wants a question put, `stop` how a run is stopped."""

    socket: aiohttp.ClientWebSocketResponse
    ask: Callable[[str, str], str]
    stop: Callable[[str], str]

    async def send(self, model: str) -> Answer:
        answer = Answer()
        answer.sent_ns = time.time_ns()
        await self.socket.send_str(self.ask(model, answer.mark))
        return answer

    async def follow(self, answer: Answer) -> Answer:
        """Until the run has ended. Raises BrokenRunError, TimeoutError."""
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while not answer.ended_ns or not answer.accepted_ns:
                message = await self.socket.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    raise BrokenRunError(f"the socket closed with {self.socket.close_code}")
                answer.take(message.data)
        return answer

    async def asked(self, model: str, tokens: int) -> Answer:
        answer = await self.follow(await self.send(model))
        answer.check(tokens)
        return answer

    async def close(self) -> None:
        await self.socket.close()
