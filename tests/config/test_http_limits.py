"""Requests are limited before anybody is known: bytes and seconds of heads and bodies, connections of an address."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import httpx2
import pytest
import uvicorn
from websockets.asyncio.client import connect

from config import http_protocol, websocket
from config.embedded import find_suitable_port
from features.accounts.client_network import client_network
from tests.instance import is_listening
from tests.stack import READY_S, Stack, constants

PATIENCE_S = 60
MEGABYTE = 1024 * 1024


class Answer(NamedTuple):
    status: int
    body: dict[str, Any]


class RawClient:
    """Writes bytes as they are given, and reads until the server closes."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)

    def send(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(data)

    def head(self, path: str, *lines: str) -> None:
        given = "".join(f"{line}\r\n" for line in lines)
        self.send(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{given}\r\n".encode()
        )

    def until_closed(self) -> bytes:
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while part := self._socket.recv(65536):
                data += part
        self._socket.close()
        return data

    def answer(self) -> Answer:
        head, _, body = self.until_closed().partition(b"\r\n\r\n")
        assert b"connection: close" in head.lower(), head
        return Answer(int(head.split()[1]), json.loads(body))


@pytest.fixture(scope="module")
def impatient_web(running_stack: Stack) -> Iterator[int]:
    """The port of a web process that waits one second for heads and bodies."""
    port = find_suitable_port("127.0.0.1")
    given = {
        "PORT": str(port),
        **constants(REQUEST_HEADER_TIMEOUT_S=1, REQUEST_BODY_TIMEOUT_S=1, RESPONSE_TIMEOUT_S=1),
    }
    running_stack.start("web", name="impatient web", environment=given)
    limit = time.monotonic() + READY_S
    while not is_listening(port):
        assert time.monotonic() < limit, running_stack.log("impatient web")
        time.sleep(0.1)
    yield port
    running_stack.end("impatient web")


@pytest.fixture(scope="module")
def token(running_stack: Stack) -> str:
    login = {"username": "alice", "password": "alice"}
    answer = httpx2.post(f"{running_stack.base_url}/api/auth/token/", json=login, trust_env=False)
    return f"Authorization: Token {answer.json()['token']}"


@pytest.mark.e2e
def test_a_declared_body_that_is_too_long_is_refused_before_it_is_sent(impatient_web: int) -> None:
    client = RawClient(impatient_web)
    client.head("/api/sessions/import/", f"Content-Length: {400 * MEGABYTE}", "X-Request-ID: mine")
    answer = client.answer()
    assert (answer.status, answer.body["code"]) == (413, "body_too_large")
    assert (answer.body["request_id"], answer.body["limit"]) == ("mine", 64 * 1024)


@pytest.mark.e2e
@pytest.mark.parametrize("path", ["/api/sessions/import/", "/login/", "/admin/", "/nowhere/"])
def test_a_body_without_a_length_is_refused_when_it_becomes_too_long(impatient_web: int, path: str) -> None:
    client = RawClient(impatient_web)
    client.head(path, "Transfer-Encoding: chunked")
    for _ in range(80):
        client.send(b"400\r\n" + b"x" * 1024 + b"\r\n")
    answer = client.answer()
    assert (answer.status, answer.body["code"]) == (413, "body_too_large")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("path", "megabytes", "expected"),
    [
        ("/api/sessions/", 9, (413, "body_too_large")),
        ("/api/sessions/import/", 9, (400, "invalid_json")),
        ("/api/sessions/import/", 33, (413, "body_too_large")),
    ],
)
def test_each_route_has_its_limit_once_somebody_is_named(
    stack: Stack, token: str, path: str, megabytes: int, expected: tuple[int, str]
) -> None:
    body = b'{"x": "' + b"x" * (megabytes * MEGABYTE)
    name, _, value = token.partition(": ")
    headers = {name: value, "Content-Type": "application/json"}
    answer = httpx2.post(stack.base_url + path, content=body, headers=headers, timeout=60, trust_env=False)
    assert (answer.status_code, answer.json()["code"]) == expected


def upload_of(size: int) -> bytes:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    return head + b"x" * size + b"\r\n--b--\r\n"


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("size", "says", "expected"),
    [
        pytest.param(1000, "Content-Length: 419430400", (413, "file_too_large"), id="declared too large"),
        pytest.param(25 * MEGABYTE + 1, "Content-Length: {}", (413, "file_too_large"), id="one byte too large"),
        pytest.param(27 * MEGABYTE, "Content-Length: {}", (413, "file_too_large"), id="much too large"),
        pytest.param(27 * MEGABYTE, "Transfer-Encoding: chunked", (413, "file_too_large"), id="too large, without a length"),
        pytest.param(25 * MEGABYTE, "Content-Length: {}", (201, None), id="as large as it may be"),
        pytest.param(5 * MEGABYTE, "Transfer-Encoding: chunked", (201, None), id="without a length"),
    ],
)  # fmt: skip
def test_an_upload_is_cut_at_the_limit(
    stack: Stack, token: str, size: int, says: str, expected: tuple[int, str | None]
) -> None:
    body = upload_of(size)
    client = RawClient(stack.port)
    kind = "Content-Type: multipart/form-data; boundary=b"
    given = "".join(f"{line}\r\n" for line in (kind, token, says.format(len(body)), "Connection: close"))
    client.send(f"POST /api/files/ HTTP/1.1\r\nHost: localhost\r\n{given}\r\n".encode())
    if "chunked" in says:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    client.send(body)
    answer = client.answer()
    assert (answer.status, answer.body.get("code")) == expected
    kept = stack.directory / "media" / "files"
    names = {path.name for path in kept.iterdir()} if kept.exists() else set()
    assert answer.status != 201 or answer.body["id"] in names


@pytest.mark.e2e
def test_nothing_is_stored_of_an_upload_that_is_longer_than_it_says(stack: Stack, token: str) -> None:
    """What follows the length is no request, so the connection is closed."""
    client = RawClient(stack.port)
    given = f"Content-Type: multipart/form-data; boundary=b\r\n{token}\r\nContent-Length: 1000\r\n\r\n"
    client.send(
        f"POST /api/files/ HTTP/1.1\r\nHost: localhost\r\n{given}".encode() + upload_of(27 * MEGABYTE)
    )
    assert b" 201 " not in client.until_closed()


@pytest.mark.e2e
def test_an_unfinished_body_is_answered_408(impatient_web: int) -> None:
    client = RawClient(impatient_web)
    client.head("/api/auth/token/", "Content-Length: 10")
    client.send(b"{")
    answer = client.answer()
    assert (answer.status, answer.body["code"]) == (408, "request_timeout")


@pytest.mark.e2e
def test_a_slow_body_is_accepted_while_it_arrives(impatient_web: int, token: str) -> None:
    """Each part is worth more seconds than the client pauses after it."""
    client = RawClient(impatient_web)
    part = b" " * (512 * 1024)
    client.head("/api/sessions/", token, f"Content-Length: {3 * len(part)}", "Connection: close")
    for _ in range(3):
        client.send(part)
        time.sleep(0.7)  # behaviour under test: together longer than the second that a body has at first
    assert (answer := client.answer()).status == 400, answer


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", 408, id="unfinished head"),
        pytest.param(b"GET / HT", 408, id="unfinished line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000, 431, id="long header"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 431, id="many headers"),
    ],
)
def test_a_head_that_is_late_or_too_long_is_refused(impatient_web: int, sent: bytes, status: int) -> None:
    client = RawClient(impatient_web)
    client.send(sent)
    answer = client.answer()
    assert (answer.status, set(answer.body)) == (status, {"code", "message", "request_id"})


@pytest.mark.e2e
def test_a_connection_that_says_nothing_is_closed(impatient_web: int) -> None:
    assert RawClient(impatient_web).until_closed() == b""


@pytest.mark.e2e
def test_endless_trailers_end_the_connection(impatient_web: int) -> None:
    client = RawClient(impatient_web)
    client.head("/api/auth/token/", "Transfer-Encoding: chunked")
    client.send(b"2\r\n{}\r\n0\r\n")
    client.send(b"X-Trailer: y\r\n" * 40_000)
    assert b" 200 " not in client.until_closed().partition(b"\r\n")[0]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        for _ in iter(condition, True):
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """A server with the product's protocols, to which this machine is as foreign as any other."""
    monkeypatch.setattr(http_protocol, "is_exempt", lambda _host: False)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            while (await receive())["type"] != "websocket.disconnect":
                pass
        else:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

    config = uvicorn.Config(
        application, port=0, lifespan="off", log_config=None, http=http_protocol.Http, ws=websocket.WebSocket,
        ws_per_message_deflate=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await running


class KeptConnections:
    """Connections that ask once and stay open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> int:
        """The status of the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers.append(writer)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return int((await reader.readline()).split()[1])

    async def close(self) -> None:
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def test_an_address_has_a_limited_number_of_connections_and_websockets_count(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_CONNECTIONS_PER_ADDRESS = 3
    async with serving(monkeypatch) as port:
        kept = KeptConnections(port)
        assert [await kept.open(), await kept.open()] == [204, 204]
        async with connect(f"ws://127.0.0.1:{port}/", proxy=None):
            assert await kept.open() == 429
        # The websocket's place is free again, as soon as the server has noticed.
        async with asyncio.timeout(PATIENCE_S):
            status = 429
            while status == 429:
                status = await kept.open()
        assert status == 204
        await kept.close()


@pytest.mark.parametrize(
    ("host", "is_exempt"),
    [("127.0.0.1", True), ("::1", True), ("203.0.113.5", False), ("10.1.2.3", True), ("2001:db8::1", False)],
)
def test_this_machine_and_trusted_proxies_have_no_limit(settings: Any, host: str, is_exempt: bool) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    http_protocol.is_exempt.cache_clear()
    assert http_protocol.is_exempt(host) is is_exempt
    http_protocol.is_exempt.cache_clear()


def test_the_addresses_of_one_ipv6_network_are_counted_together() -> None:
    assert (
        client_network("2001:db8::1") == client_network("2001:db8::ffff") != client_network("2001:db8:1::1")
    )
    assert client_network("203.0.113.5") != client_network("203.0.113.6")


@pytest.mark.e2e
def test_clients_that_do_not_read_are_closed_and_leave_room_for_the_next(
    impatient_web: int, token: str
) -> None:
    name, _, value = token.partition(": ")
    known = {name: value}
    base_url = f"http://127.0.0.1:{impatient_web}/api/files/"
    # More than the buffers of two sockets.
    content = b"tidemark " * (2 * MEGABYTE)
    given = {"file": ("tides.txt", content, "text/plain")}
    file = httpx2.post(base_url, headers=known, files=given, trust_env=False, timeout=PATIENCE_S).json()["id"]
    slow = [RawClient(impatient_web) for _ in range(8)]
    for client in slow:
        client.send(f"GET /api/files/{file}/content/ HTTP/1.1\r\nHost: localhost\r\n{token}\r\n\r\n".encode())
    limit = time.monotonic() + PATIENCE_S
    status = 429
    while status == 429:
        assert time.monotonic() < limit
        time.sleep(0.1)
        with httpx2.stream("GET", f"{base_url}{file}/content/", headers=known, trust_env=False) as answer:
            status = answer.status_code
    assert status == 200
    # One that was not closed yet when it begins to read here receives all.
    assert min([len(client.until_closed()) for client in slow]) < len(content)
