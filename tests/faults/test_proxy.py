"""The proxy breaks the network in the ways it says, and mends it."""

import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
import redis

from tests.faults.proxy import TO_CLIENT, TO_SERVER, Proxy
from tests.services import Services

# How long silence is watched before it counts as silence.
SILENCE_S = 0.3
PATIENCE_S = 30


class Echo:
    """Answers every connection with what it is sent."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.received = bytearray()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                while chunk := connection.recv(65536):
                    self.received += chunk
                    connection.sendall(chunk)
            except OSError:
                pass


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.listener.close()


@pytest.fixture
def proxy(echo: Echo) -> Iterator[Proxy]:
    with Proxy(("127.0.0.1", echo.port)) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: Proxy) -> Iterator[socket.socket]:
    with connected(proxy) as client:
        assert said(client, b"hello") == b"hello"
        yield client


def connected(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_S)


def said(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    return heard(client, len(text))


def heard(client: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        chunk = client.recv(count - len(found))
        assert chunk, f"closed after {found!r}"
        found += chunk
    return found


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SILENCE_S)
    try:
        client.recv(1)
    except TimeoutError:
        return True
    else:
        return False
    finally:
        client.settimeout(PATIENCE_S)


def test_it_forwards_both_ways_and_ends_with_either_side(proxy: Proxy, client: socket.socket) -> None:
    large = bytes(range(256)) * 8000
    sender = threading.Thread(target=client.sendall, args=(large,))
    sender.start()
    assert heard(client, len(large)) == large
    sender.join()
    client.shutdown(socket.SHUT_WR)
    assert client.recv(1) == b""
    limit = time.monotonic() + PATIENCE_S
    while proxy.connections and time.monotonic() < limit:
        time.sleep(0.01)
    assert (proxy.accepted, proxy.connections) == (1, 0)


@pytest.mark.parametrize(
    "directions", [(), (TO_SERVER,), (TO_CLIENT,)], ids=["both", "to server", "to client"]
)
def test_what_a_blackhole_holds_back_arrives_when_it_is_healed(
    proxy: Proxy, echo: Echo, client: socket.socket, directions: tuple[str, ...]
) -> None:
    proxy.blackhole(*directions)
    client.sendall(b"late")
    assert is_silent(client)
    assert (echo.received == b"hellolate") == (directions == (TO_CLIENT,))
    proxy.heal()
    assert heard(client, 4) == b"late"
    assert said(client, b"on time") == b"on time"


def test_a_connection_made_in_a_blackhole_is_carried_through_when_it_is_healed(
    proxy: Proxy, echo: Echo
) -> None:
    proxy.blackhole()
    with connected(proxy) as client:
        client.sendall(b"anybody?")
        assert is_silent(client)
        assert echo.received == b""
        proxy.heal()
        assert heard(client, 8) == b"anybody?"


def test_what_is_discarded_never_arrives(proxy: Proxy, echo: Echo, client: socket.socket) -> None:
    proxy.discard(TO_CLIENT)
    client.sendall(b"lost")
    assert is_silent(client)
    assert echo.received == b"hellolost"
    proxy.heal()
    assert said(client, b"kept") == b"kept"


def test_a_delay_keeps_the_order(proxy: Proxy, client: socket.socket) -> None:
    proxy.delay(0.2, TO_SERVER)
    began = time.monotonic()
    for number in range(10):
        client.sendall(b"%d" % number)
        time.sleep(0.005)
    assert heard(client, 10) == b"0123456789"
    assert time.monotonic() - began >= 0.2
    proxy.delay(3600)
    client.sendall(b"!")
    assert is_silent(client)
    proxy.heal()
    assert heard(client, 1) == b"!"


def test_a_throttle_holds_to_its_pace(proxy: Proxy, client: socket.socket) -> None:
    proxy.throttle(1000, TO_CLIENT)
    began = time.monotonic()
    assert said(client, b"x" * 500) == b"x" * 500
    assert time.monotonic() - began >= 0.35


def test_a_reset_breaks_connections_and_welcomes_new_ones(proxy: Proxy, client: socket.socket) -> None:
    assert proxy.reset() == 1
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with connected(proxy) as again:
        assert said(again, b"back") == b"back"


def test_a_refusal_leaves_what_is_connected(proxy: Proxy, client: socket.socket) -> None:
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        connected(proxy)
    assert said(client, b"still") == b"still"
    proxy.heal()
    with connected(proxy) as again:
        assert said(again, b"welcome") == b"welcome"


def test_a_server_that_is_away_ends_the_connection() -> None:
    # The reset may come while the client still connects, or with its first read.
    with Proxy(("127.0.0.1", 1)) as nobody, pytest.raises(ConnectionResetError), connected(nobody) as client:
        client.recv(1)


def test_it_stands_before_valkey_and_postgres(services: Services) -> None:
    with Proxy.before(services.valkey.url) as proxy, redis.Redis.from_url(proxy.url) as client:
        assert client.ping()
        assert proxy.accepted == 1
    with Proxy.before(services.postgres.url) as proxy:
        with psycopg.connect(proxy.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert proxy.accepted >= 1
