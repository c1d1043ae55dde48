"""An independent client: REST and websocket only, written against the public contract and nothing else.

It keeps every frame with its time, applies them as a careful client would, and refuses what the contract rules
out: a gap in seq or n, a packet after `stop`, a second `stop`, a packet where it may not stand (screen.py).
"""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from tests.e2e.screen import Screen

Frame = dict[str, Any]


class ContractError(AssertionError):
    """The server sent what the contract rules out."""


@dataclass
class RunView:
    """What the client shows of one run; reasoning: since the latest round of tools, outside agents' calls.

    screen: None where it joined in the middle, so that it knows nothing of the blocks above.
    """

    attempt: int = 0
    seq: int = 0
    text: str = ""
    reasoning: str = ""
    stop_reason: str | None = None
    error: Frame | None = None
    kinds: list[str] = field(default_factory=list)
    screen: Screen | None = None

    def packet(self, frame: Frame) -> None:
        if self.stop_reason is not None:
            raise ContractError(f"a packet after stop: {frame}")
        if frame["attempt"] != self.attempt and not (self.attempt == 0 and self.seq == 0):
            raise ContractError(f"attempt {frame['attempt']} began without reset or snapshot")
        if frame["seq"] != self.seq + 1:
            raise ContractError(f"seq {frame['seq']} after {self.seq}")
        if self.attempt == 0:
            self.screen = Screen()
        self.attempt, self.seq = frame["attempt"], frame["seq"]
        obj = frame["obj"]
        self.kinds.append(obj["type"])
        if self.screen:
            self.screen.packet(frame)
        if frame["placement"]["sub_turn_index"] is None:
            self._show(obj)

    def _show(self, obj: Frame) -> None:
        match obj["type"]:
            case "tool_start":
                self.reasoning = ""
            case "message_delta":
                self.text += obj["text"]
            case "reasoning_delta":
                self.reasoning += obj["text"]
            case "error":
                self.error = obj
            case "stop":
                self.stop_reason = obj["stop_reason"]

    def reset(self, attempt: int, seq: int = 0, message: Frame | None = None) -> None:
        self.attempt, self.seq, self.stop_reason, self.error = attempt, seq, None, None
        self.screen = None if message else Screen()
        self.text = message["text"] if message else ""
        self.reasoning = (message.get("reasoning") or "") if message else ""


class Socket:
    """One websocket. Frames are applied as they arrive; `until` waits for a state, not for a time."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[tuple[float, Frame]] = []
        self.runs: dict[str, RunView] = {}
        self.stopped_turns: dict[str, str] = {}
        self.n: int | None = None
        self.close_code: int | None = None
        self._changed = asyncio.Event()
        self._failure: BaseException | None = None
        self._reader = asyncio.create_task(self._read())

    async def send(self, **command: Any) -> None:
        await self.connection.send(json.dumps(command))

    async def ask(self, reply: str, **command: Any) -> Frame:
        """Send a command and wait for its reply of type `reply` (or raise on an error frame)."""
        command["id"] = f"c{time.monotonic_ns()}"
        await self.send(**command)
        frame = await self.until(
            lambda: next((f for _, f in self.frames if f.get("id") == command["id"]), None),
            f"reply to {command}",
        )
        if frame["type"] != reply:
            raise ContractError(f"expected {reply}, got {frame}")
        return frame

    async def subscribe(self, session: str, **more: Any) -> Frame:
        self.n = more.get("since")
        return await self.ask("subscribed", type="subscribe", session=session, **more)

    def cursors(self) -> dict[str, Frame]:
        return {run: {"attempt": view.attempt, "seq": view.seq} for run, view in self.runs.items()}

    async def until(self, condition: Callable[[], Any], what: str, timeout_s: float = 60) -> Any:
        async with asyncio.timeout(timeout_s):
            while not (value := condition()):
                if self._failure:
                    raise self._failure
                if self.close_code is not None:
                    raise ContractError(f"closed {self.close_code} while waiting for {what}")
                self._changed.clear()
                await self._changed.wait()
        return value

    async def ended(self, run: str) -> RunView:
        await self.until(lambda: run in self.runs and self.runs[run].stop_reason, f"the end of {run}")
        return self.runs[run]

    async def showing(self, run: str, text: str) -> RunView:
        await self.until(lambda: run in self.runs and text in self.runs[run].text, f"{text!r}")
        return self.runs[run]

    def of_type(self, kind: str) -> list[Frame]:
        return [frame for _, frame in self.frames if frame["type"] == kind]

    async def close(self) -> None:
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self.connection.close()

    def abandon(self) -> None:
        """Drop the TCP connection without a goodbye, as a vanished client does."""
        self._reader.cancel()
        self.connection.transport.abort()

    async def _read(self) -> None:
        try:
            async for text in self.connection:
                for line in str(text).split("\n"):
                    if line:
                        self._apply(json.loads(line))
                self._changed.set()
        except ContractError as broken:
            self._failure = broken
        except (OSError, ConnectionClosedError):
            pass
        self.close_code = self.connection.close_code or 1006
        self._changed.set()

    def _apply(self, frame: Frame) -> None:
        self.frames.append((time.monotonic(), frame))
        if "n" in frame:
            self._number(frame)
        match frame["type"]:
            case "packet":
                self.runs.setdefault(frame["run"], RunView()).packet(frame)
            case "reset":
                self.runs.setdefault(frame["run"], RunView()).reset(frame["attempt"])
            case "snapshot":
                view = self.runs.setdefault(frame["run"], RunView())
                view.reset(frame["attempt"], frame["seq"], frame["message"])
            case "run_continued":
                self.stopped_turns.pop(frame["turn"], None)
            case "overall_stop":
                if frame["turn"] in self.stopped_turns:
                    raise ContractError(f"two overall_stop for {frame['turn']}")
                self.stopped_turns[frame["turn"]] = frame["stop_reason"]

    def _number(self, frame: Frame) -> None:
        """Without `since` news goes on after the `n` of the reply, with it after `since`."""
        if frame["type"] == "subscribed":
            self.n = frame["n"] if self.n is None else self.n
        elif frame["type"] == "resync":
            self.n = frame["n"]
        elif frame["n"] != (self.n or 0) + 1:
            raise ContractError(f"n {frame['n']} after {self.n}")
        else:
            self.n = frame["n"]


@dataclass
class Client:
    """One user of one server.  tls: of a server with https."""

    base_url: str
    token: str
    http: httpx2.AsyncClient
    tls: ssl.SSLContext | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def login(
        cls, base_url: str, username: str, password: str, tls: ssl.SSLContext | None = None
    ) -> AsyncIterator["Client"]:
        async with httpx2.AsyncClient(
            base_url=base_url, timeout=30, trust_env=False, verify=tls or True
        ) as http:
            answer = await http.post("/api/auth/token/", json={"username": username, "password": password})
            answer.raise_for_status()
            token = answer.json()["token"]
            http.headers["Authorization"] = f"Token {token}"
            yield cls(base_url, token, http, tls)

    @contextlib.asynccontextmanager
    async def socket(self) -> AsyncIterator[Socket]:
        url = self.base_url.replace("http", "ws", 1) + "/ws/"
        headers = {"Authorization": f"Token {self.token}"}
        async with connect(
            url, additional_headers=headers, max_size=None, proxy=None, compression=None, ssl=self.tls
        ) as connection:
            socket = Socket(connection)
            try:
                yield socket
            finally:
                await socket.close()

    async def call(self, method: str, path: str, *, status: int = 200, **more: Any) -> Any:
        """JSON of `/api/{path}`; the status must be the expected one."""
        answer = await self.http.request(method, f"/api/{path}", **more)
        if answer.status_code != status:
            raise ContractError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    async def new_session(self, **body: Any) -> Frame:
        """With a title, or its model would be asked for one after the first answer."""
        session: Frame = await self.call("POST", "sessions/", json={"title": "A chat"} | body, status=201)
        return session

    async def ask(self, session: Frame, text: str, **body: Any) -> Frame:
        turn: Frame = await self.call(
            "POST", f"sessions/{session['id']}/turns/", json={"text": text, **body}, status=202
        )
        return turn

    async def branch(self, session: Frame, **query: Any) -> list[Frame]:
        messages: list[Frame] = await self.call("GET", f"sessions/{session['id']}/messages/", params=query)
        return messages
