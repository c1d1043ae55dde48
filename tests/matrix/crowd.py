"""One user who asks the same 40 times side by side, and another who is timed meanwhile."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, Final, NamedTuple

import httpx2
from websockets.asyncio.client import connect
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_sync

TIMES: Final = 40
# Later than alone, so that the machine does not decide.
LATER_S: Final = 2.0
ATTACK_S: Final = 120
_PIECE: Final = 256 * 1024
_BEFORE: Final = 5

Attack = Callable[[], Coroutine[Any, Any, Counter[str]]]


class Finding(NamedTuple):
    """What an attack did: answers that it got, and the slowest of the other user's. faults: what was too late or refused."""

    name: str
    answers: Counter[str]
    slowest_s: float
    faults: list[str]


class Bystander:
    """The other user, who lists chats, begins one, sends, and uploads, over a new connection each time.

    reads: whether workers answer, so that the first token is waited for.
    """

    def __init__(self, address: str, token: str, *, reads: bool = False) -> None:
        self._address, self._headers = address, {"Authorization": f"Token {token}"}
        self._reads = reads
        self._alone: dict[str, float] = {}
        for _ in range(_BEFORE):
            self.time_alone()

    def time_alone(self) -> None:
        for what, (seconds, status) in self._ask().items():
            assert status < 300, f"{what} alone: {status}"
            self._alone[what] = max(seconds, self._alone.get(what, 0))

    def time_beside(self) -> tuple[float, list[str]]:
        """The slowest answer, and what was too late or refused."""
        asked = self._ask()
        faults = [
            f"{what}: {status} after {seconds:.2f} s, alone {self._alone[what]:.2f} s"
            for what, (seconds, status) in asked.items()
            if status >= 300 or seconds > self._alone[what] + LATER_S
        ]
        return max(seconds for seconds, _ in asked.values()), faults

    def _ask(self) -> dict[str, tuple[float, int]]:
        """By what was asked, seconds and status."""
        found: dict[str, tuple[float, int]] = {}
        base_url = f"http://{self._address}/api/"
        with httpx2.Client(base_url=base_url, headers=self._headers, timeout=60, trust_env=False) as client:

            def ask(what: str, method: str, path: str, **body: Any) -> Any:
                began = time.monotonic()
                response = client.request(method, path, **body)
                found[what] = (time.monotonic() - began, response.status_code)
                return response.json()

            ask("GET", "GET", "sessions/")
            session = ask("new chat", "POST", "sessions/", json={}).get("id")
            with self._first_token(session, found) if self._reads else nullcontext():
                ask("send", "POST", f"sessions/{session}/turns/", json={"text": "Hello"})
            file = ask("upload", "POST", "files/", files={"file": ("a.txt", b"Low water.")}).get("id")
            client.delete(f"files/{file}/")  # nobody reads it
        return found

    @contextmanager
    def _first_token(self, session: str, found: dict[str, tuple[float, int]]) -> Iterator[None]:
        """Time from the send within until the answer begins."""
        url = f"ws://{self._address}/ws/"
        with connect_sync(url, additional_headers=self._headers, proxy=None, max_size=None) as socket:
            socket.send(json.dumps({"type": "subscribe", "session": session}))
            _await_frame(socket, "subscribed")
            began = time.monotonic()
            yield
            _await_frame(socket, "message_delta")
            found["first token"] = (time.monotonic() - began, 200)


def _await_frame(socket: ClientConnection, kind: str) -> None:
    while f'"{kind}"' not in str(socket.recv(timeout=60)):
        pass


def disturb(bystander: Bystander, name: str, attack: Attack) -> Finding:
    """Attack, and time the other user until that has ended, at least once."""
    bystander.time_alone()
    slowest, faults = 0.0, []
    with ThreadPoolExecutor(1, thread_name_prefix=name) as pool:
        attacking = pool.submit(lambda: asyncio.run(attack()))
        while True:
            seconds, found = bystander.time_beside()
            slowest = max(slowest, seconds)
            faults += found
            if attacking.done():
                return Finding(name, attacking.result(), slowest, faults)


def requests(address: str, request: bytes, times: int = TIMES) -> Attack:
    """The same request over so many connections; answers are counted by status, without parsing the rest of them."""

    async def attack() -> Counter[str]:
        return Counter(await asyncio.gather(*(_answer(address, request) for _ in range(times))))

    return attack


async def _answer(address: str, request: bytes) -> str:
    host, _, port = address.partition(":")
    try:
        async with asyncio.timeout(ATTACK_S):
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                sending = asyncio.create_task(_send(writer, request))
                status = (await reader.readline()).split(b" ")[1:2]
                while await reader.read(_PIECE):
                    pass
                sending.cancel()  # the server may have answered before it had read all
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return type(error).__name__
    return status[0].decode() if status else "none"


async def _send(writer: asyncio.StreamWriter, request: bytes) -> None:
    try:
        for start in range(0, len(request), _PIECE):
            writer.write(request[start : start + _PIECE])
            await writer.drain()
    except OSError:
        pass  # refused before it was read


def commands(address: str, token: str, command: str, times: int = TIMES) -> Attack:
    """The same command over so many sockets; answers are counted by type, or code."""

    async def ask() -> str:
        headers = {"Authorization": f"Token {token}"}
        async with (
            asyncio.timeout(ATTACK_S),
            connect(f"ws://{address}/ws/", additional_headers=headers, proxy=None, max_size=None) as socket,
        ):
            await socket.send(command)
            frame = json.loads(str(await socket.recv()).partition("\n")[0])
            return str(frame.get("code") or frame["type"])

    async def attack() -> Counter[str]:
        return Counter(await asyncio.gather(*(ask() for _ in range(times))))

    return attack
