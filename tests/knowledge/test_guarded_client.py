"""The client for URLs that others choose: what it refuses, where it connects to, and how much it reads. A server and a name server of
the test stand in for the internet's."""

import gzip
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from knowledge import guarded_client
from knowledge.guarded_client import MAX_BYTES, UrlRefused, fetch_text

PUBLIC, LOOPBACK, METADATA = "93.184.215.14", "127.0.0.1", "169.254.169.254"
TIDES = b"Two tides a day."
PACKED = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}


class Answers(BaseHTTPRequestHandler):
    """By path: what the test has put there. Requests are kept."""

    server: Any

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    found: Any = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    found.daemon_threads = True
    found.pages, found.seen = {"/": (200, {"Content-Type": "text/plain"}, TIDES)}, []
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def host(server: Any, settings: Any) -> str:
    """Which the settings allow."""
    name = f"sea.test:{server.server_address[1]}"
    settings.OPEN_URL_HOSTS = frozenset({name})
    return name


def names(*addresses: str) -> Any:
    """A name server that says the same of every name."""
    return lambda _host, _port: list(addresses)


def refusal(url: str, resolve: Any = None) -> str:
    with pytest.raises(UrlRefused) as refused:
        fetch_text(url, resolve or names(PUBLIC))
    return refused.value.code


@pytest.fixture
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: Any, **__: Any) -> Any:
        raise AssertionError("connected")

    monkeypatch.setattr(socket, "create_connection", connect)


@pytest.mark.usefixtures("no_connections")
class TestBeforeConnecting:
    @pytest.mark.parametrize(
        ("url", "code"),
        [
            ("ftp://sea.test/", "url_scheme_blocked"),
            ("file:///etc/passwd", "url_scheme_blocked"),
            ("javascript:alert(1)", "url_scheme_blocked"),
            ("sea.test/tides", "url_scheme_blocked"),
            ("gopher://sea.test:80/", "url_scheme_blocked"),
            ("http://sea.test:8080/", "url_address_blocked"),
            ("http://sea.test:22/", "url_address_blocked"),
            ("http://sea.test:99999/", "url_address_blocked"),
            ("http://user@sea.test/", "url_address_blocked"),
            ("http://user:password@sea.test/", "url_address_blocked"),
            ("http://@sea.test/", "url_address_blocked"),
            ("http:///tides", "url_address_blocked"),
            ("http://[::1/", "url_address_blocked"),
            ("http://sea test/", "url_address_blocked"),
            ("http://sea.test\\@evil.test/", "url_address_blocked"),
            ("http://" + "a" * 2_000 + ".test/", "url_address_blocked"),
        ],
    )
    def test_addresses_that_are_not_read(self, url: str, code: str) -> None:
        assert refusal(url) == code

    @pytest.mark.parametrize(
        "addresses",
        [
            (LOOPBACK,),
            (METADATA,),
            ("::1",),
            ("::ffff:10.0.0.1",),
            ("64:ff9b::7f00:1",),
            ("2002:7f00:1::1",),
            (PUBLIC, LOOPBACK),
            ("fd00::1", PUBLIC),
        ],
    )
    def test_a_name_with_one_address_that_is_not_public(self, addresses: Sequence[str]) -> None:
        assert refusal("http://sea.test/", names(*addresses)) == "url_address_blocked"

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0"]
    )
    def test_every_spelling_of_loopback(self, host: str) -> None:
        assert refusal(f"http://{host}/", guarded_client.resolve_host) == "url_address_blocked"

    def test_names_that_nobody_knows(self) -> None:
        def unknown(_host: str, _port: int) -> list[str]:
            raise socket.gaierror

        assert refusal("http://sea.test/", unknown) == "url_unreachable"
        assert refusal("http://sea.test/", names()) == "url_unreachable"


def test_the_checked_address_is_connected_to_and_the_name_is_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, connected = [], []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else [LOOPBACK]

    def connect(address: Any, *_: Any, **__: Any) -> Any:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    assert refusal("http://sea.test/", resolve) == "url_unreachable"
    assert (asked, connected) == (["sea.test"], [(PUBLIC, 80)])


class TestReading:
    def test_a_text_and_what_was_sent_for_it(
        self, server: Any, host: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        server.pages["/"] = (200, {"Content-Type": "text/plain", "Set-Cookie": "a=b"}, TIDES)
        for _ in range(2):
            found = fetch_text(f"http://{host}/", names(LOOPBACK))
        assert (found.content, found.content_type) == (TIDES, "text/plain")
        [(_, first), (_, second)] = server.seen
        assert first == second
        assert (first["Host"], "Cookie" in first) == (host, False)

    def test_redirects_are_followed_and_each_is_checked(self, server: Any, host: str) -> None:
        for number in range(4):
            server.pages[f"/{number}"] = (302, {"Location": f"/{number - 1}" if number else "/"}, b"")
        assert fetch_text(f"http://{host}/2", names(LOOPBACK)).url == f"http://{host}/"
        assert refusal(f"http://{host}/3", names(LOOPBACK)) == "too_many_redirects"
        places = {
            "http://inside.test/": "url_address_blocked",
            "ftp://sea.test/": "url_scheme_blocked",
            f"http://{METADATA}/latest/": "url_address_blocked",
            f"//127.0.0.1:{server.server_address[1]}/": "url_address_blocked",
        }
        for place, code in places.items():
            server.pages["/out"] = (301, {"Location": place}, b"")
            assert refusal(f"http://{host}/out", names(LOOPBACK)) == code

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            ((404, {"Content-Type": "text/plain"}, TIDES), "http_error"),
            ((500, {"Content-Type": "text/plain"}, TIDES), "http_error"),
            ((200, {"Content-Type": "application/pdf"}, TIDES), "content_type_unsupported"),
            ((200, {"Content-Type": "image/svg"}, TIDES), "content_type_unsupported"),
            ((200, {}, TIDES), "content_type_unsupported"),
            (
                (200, {"Content-Type": "text/plain", "Content-Encoding": "br"}, TIDES),
                "content_type_unsupported",
            ),
            ((200, PACKED, TIDES), "url_unreachable"),
            ((200, PACKED, gzip.compress(TIDES)[:-9]), "url_unreachable"),
            ((200, PACKED, gzip.compress(TIDES) + gzip.compress(TIDES)), "url_unreachable"),
            ((200, PACKED, gzip.compress(os.urandom(MAX_BYTES))), "response_too_large"),
            ((200, {"Content-Type": "text/plain"}, b"x" * (MAX_BYTES + 1)), "response_too_large"),
        ],
    )
    def test_answers_that_are_not_taken(self, server: Any, host: str, answer: Any, code: str) -> None:
        server.pages["/"] = answer
        assert refusal(f"http://{host}/", names(LOOPBACK)) == code

    def test_what_is_compressed_is_unpacked_up_to_the_limit(self, server: Any, host: str) -> None:
        packed = {"Content-Type": "text/html; charset=utf-8", "Content-Encoding": "gzip"}
        server.pages["/"] = (200, packed, gzip.compress(TIDES))
        assert fetch_text(f"http://{host}/", names(LOOPBACK)).content == TIDES
        bomb = gzip.compress(b"\0" * 50 * MAX_BYTES)
        assert len(bomb) < MAX_BYTES
        server.pages["/"] = (200, packed, bomb)
        assert refusal(f"http://{host}/", names(LOOPBACK)) == "response_too_large"

    def test_another_encoding_becomes_utf_8(self, server: Any, host: str) -> None:
        for charset in ("iso-8859-1", "shift_jis"):
            text = "Häfen" if charset.startswith("iso") else "潮汐"
            server.pages["/"] = (
                200,
                {"Content-Type": f'text/html; charset="{charset}"'},
                text.encode(charset),
            )
            assert fetch_text(f"http://{host}/", names(LOOPBACK)).content.decode() == text

    @pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "rot13", "none"])
    def test_what_is_no_encoding_of_pages_leaves_the_text_as_it_is(
        self, server: Any, host: str, charset: str
    ) -> None:
        server.pages["/"] = (200, {"Content-Type": f"text/plain; charset={charset}"}, rb"xn--\x41-bcd")
        assert fetch_text(f"http://{host}/", names(LOOPBACK)).content == rb"xn--\x41-bcd"


class TestWaiting:
    """Limits are shortened; what is told is which of them ended it."""

    def test_a_server_that_sends_forever_a_little(
        self, host: str, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every wait is short enough, and all of them together are not."""
        monkeypatch.setattr(guarded_client, "TOTAL_S", 0.5)
        stop = threading.Event()

        def drip(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain")
            handler.end_headers()
            while not stop.wait(0.05):
                handler.wfile.write(b".")

        monkeypatch.setattr(Answers, "do_GET", drip)
        try:
            assert refusal(f"http://{host}/", names(LOOPBACK)) == "timeout"
        finally:
            stop.set()

    def test_a_name_server_that_does_not_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guarded_client, "TOTAL_S", 0.2)
        never = threading.Event()
        assert refusal("http://sea.test/", lambda *_: never.wait(30)) == "timeout"
        never.set()

    def test_a_server_without_tls(self, host: str, server: Any) -> None:
        assert refusal(f"https://{host}/", names(LOOPBACK)) == "tls_error"
