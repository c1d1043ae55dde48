"""The client for URLs that others choose: what it refuses, where it connects to, and how much it reads. A server and a name server of
the test stand in for the internet's."""

import asyncio
import gzip
import os
import socket
import threading
import traceback
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any

import pytest

from knowledge.fetching.guarded_client import GuardedRequest, RequestLimits, resolve_host, send
from knowledge.fetching.page import fetch_page, fetch_text
from knowledge.fetching.target import UrlRefused

PUBLIC, LOOPBACK, METADATA = "93.184.215.14", "127.0.0.1", "169.254.169.254"
MAX_BYTES = RequestLimits().max_bytes
TIDES = b"Two tides a day."
PLAIN = {"Content-Type": "text/plain"}
PACKED = PLAIN | {"Content-Encoding": "gzip"}


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

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


def serve() -> Any:
    found: Any = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    found.daemon_threads = True
    found.pages, found.seen = {"/": (200, PLAIN, TIDES)}, []
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return found


@pytest.fixture
def server() -> Iterator[Any]:
    found = serve()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def host(server: Any, settings: Any) -> str:
    """Which the settings allow."""
    name = f"sea.test:{server.server_address[1]}"
    settings.URL_ALLOWED_HOSTS = frozenset({name})
    return name


@pytest.fixture
def other_host(settings: Any, host: str) -> Iterator[tuple[str, Any]]:
    """Another server, under another name, which the settings allow as well."""
    found = serve()
    name = f"land.test:{found.server_address[1]}"
    settings.URL_ALLOWED_HOSTS |= {name}
    yield name, found
    found.shutdown()
    found.server_close()


@pytest.fixture
def raw_host(settings: Any) -> Iterator[Any]:
    """A function: bytes that a server sends to everyone before it closes the connection; returns the server's host."""
    listening = []

    def listen(answer: bytes) -> str:
        found = socket.create_server(("127.0.0.1", 0))
        listening.append(found)

        def answer_all() -> None:
            while True:
                try:
                    peer, _ = found.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(65_536)
                    peer.sendall(answer)

        threading.Thread(target=answer_all, daemon=True).start()
        name = f"raw.test:{found.getsockname()[1]}"
        settings.URL_ALLOWED_HOSTS = frozenset({name})
        return name

    yield listen
    for one in listening:
        one.shutdown(socket.SHUT_RDWR)
        one.close()


def names(*addresses: str) -> Any:
    """A name server that says the same of every name."""
    return lambda _host, _port: list(addresses)


def refusal(url: str, resolve: Any = None, limits: RequestLimits | None = None) -> str:
    with pytest.raises(UrlRefused) as refused:
        asyncio.run(fetch_page(url, limits=limits, resolve=resolve or names(PUBLIC)))
    return refused.value.code


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The addresses that anything connects to; nothing answers there."""
    addresses: list[Any] = []

    async def connect(_loop: Any, _socket: Any, address: Any) -> None:
        addresses.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", connect)
    return addresses


class TestBeforeConnecting:
    @pytest.mark.pure
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

    @pytest.mark.pure
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

    @pytest.mark.slow
    @pytest.mark.pure
    @pytest.mark.parametrize(
        "host",
        """
        127.0.0.1 127.1 127.0.1 2130706433 0x7f.1 0x7f000001 0X7F.0.0.1 017700000001 0177.0.0.1 0 0.0.0.0 127.0.0.1. localhost
        LOCALHOST localhost. \uff11\uff12\uff17.\uff10.\uff10.\uff11 127\u30020\u30020\u30021 \u2460\u2461\u2466.1 [::1] [::]
        [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::1]
        [2001:0:4136:e378:8000:63bf:80ff:fffe] [::1%25lo] [fe80::1%25eth0] [fe80::1%eth0] 127.0.0.1%00.sea.test 127%2e0.0.1
        127.0.0.256 1.2.3.4.5 0x 08.1.1.1 10.0.0.1 10.1 167772161 172.16.0.1 192.168.1.1 0xc0a80101 169.254.169.254 2852039166
        0xa9fea9fe 0251.0376.0251.0376 100.64.0.1 100.100.100.200 168.63.129.16 224.0.0.1 255.255.255.255 240.0.0.1
        192.0.2.1 198.18.0.1 [fd00:ec2::254] [fc00::1] [ff02::1] [2001:db8::1]
        """.split(),  # noqa: SIM905
    )
    def test_every_spelling_of_an_address_that_is_not_public(self, host: str, connected: list[Any]) -> None:
        assert refusal(f"http://{host}/", resolve_host) == "url_address_blocked"
        assert connected == []

    @pytest.mark.pure
    @pytest.mark.parametrize(
        "host", ["-sea.test", "sea..test", ".", "a" * 64 + ".test", "sea.test\x00", "sea\ttest:22", "*"]
    )
    def test_what_is_no_name(self, host: str) -> None:
        assert refusal(f"http://{host}/") == "url_address_blocked"

    @pytest.mark.pure
    def test_names_that_nobody_knows(self) -> None:
        def unknown(_host: str, _port: int) -> list[str]:
            raise socket.gaierror

        assert refusal("http://sea.test/", unknown) == "url_unreachable"
        assert refusal("http://sea.test/", names()) == "url_unreachable"


class TestConnecting:
    @pytest.mark.pure
    def test_checked_addresses_are_connected_to_and_the_name_is_asked_once(
        self, connected: list[Any]
    ) -> None:
        """A name server that says something else the second time decides nothing."""
        asked = []

        def resolve(host: str, _port: int) -> list[str]:
            asked.append(host)
            return [PUBLIC] if len(asked) == 1 else [LOOPBACK]

        assert refusal("http://sea.test/", resolve) == "url_unreachable"
        assert (asked, connected) == (["sea.test"], [(PUBLIC, 80)])

    def test_a_name_that_leads_elsewhere_after_a_redirect_is_checked_again(
        self, server: Any, host: str, settings: Any
    ) -> None:
        """Each hop asks the name server, and is refused if what it says by then is not public."""
        server.pages["/"] = (302, {"Location": "http://moved.test/"}, b"")
        answers = {"sea.test": [LOOPBACK], "moved.test": [LOOPBACK]}
        assert refusal(f"http://{host}/", lambda name, _: answers[name]) == "url_address_blocked"
        assert len(server.seen) == 1

    @pytest.mark.pure
    def test_literal_addresses_and_other_scripts_lead_where_they_say(self, connected: list[Any]) -> None:
        for url in (
            f"http://{PUBLIC}/",
            "https://0x5db8d70e/",
            "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
        ):
            assert refusal(url) == "url_unreachable"
        assert [address[:2] for address in connected] == [
            (PUBLIC, 80),
            (PUBLIC, 443),
            ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", 80),
        ]
        asked = []
        assert (
            refusal("http://Bücher.TEST./", lambda name, _: asked.append(name) or [PUBLIC])
            == "url_unreachable"
        )
        assert asked == ["xn--bcher-kva.test"]

    @pytest.mark.pure
    def test_both_ports_of_the_web_and_no_other(self, connected: list[Any]) -> None:
        assert refusal("http://sea.test:443/") == refusal("https://sea.test:80/") == "url_unreachable"
        assert {address[1] for address in connected} == {80, 443}
        for port in (0, 22, 25, 6379, 8080):
            assert refusal(f"http://sea.test:{port}/") == "url_address_blocked"

    def test_an_allowed_name_may_be_anywhere_and_have_any_port_unless_one_is_named(
        self, server: Any, settings: Any
    ) -> None:
        port = server.server_address[1]
        for allowed in ("sea.test", f"sea.test:{port}"):
            settings.URL_ALLOWED_HOSTS = frozenset({allowed})
            assert fetch_text(f"http://SEA.test:{port}/", names(LOOPBACK)).content == TIDES
        settings.URL_ALLOWED_HOSTS = frozenset({"127.0.0.1"})
        assert fetch_text(f"http://127.1:{port}/").content == TIDES
        for other in ("sea.test:1", "a.sea.test", "test", f"land.test:{port}"):
            settings.URL_ALLOWED_HOSTS = frozenset({other})
            assert refusal(f"http://sea.test:{port}/", names(LOOPBACK)) == "url_address_blocked"


class TestSecrets:
    async def test_what_was_given_for_one_host_stays_there(
        self, server: Any, host: str, other_host: tuple[str, Any]
    ) -> None:
        name, other = other_host
        server.pages["/same"] = (302, {"Location": "/out", "Set-Cookie": "a=b"}, b"")
        server.pages["/out"] = (302, {"Location": f"http://{name}/"}, b"")
        given = {"Authorization": "Bearer secret", "X-Key": "secret", "Accept": "text/plain"}
        async with send(
            GuardedRequest(f"http://{host}/same", headers=given), resolve=names(LOOPBACK)
        ) as found:
            assert await found.read() == TIDES
        for _, headers in server.seen:
            assert headers["Authorization"] == "Bearer secret"
        [(_, headers)] = other.seen
        assert set(headers) == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}
        assert all("Cookie" not in headers and "Referer" not in headers for _, headers in server.seen)

    async def test_what_is_sent_is_not_sent_again_to_where_a_redirect_leads(
        self, server: Any, host: str
    ) -> None:
        server.pages["/"] = (307, {"Location": "/again"}, b"")
        request = GuardedRequest(f"http://{host}/", "POST", body=b"secret")
        async with send(request, resolve=names(LOOPBACK)) as found:
            assert found.status == 307
        assert len(server.seen) == 1

    def test_passwords_of_the_environment_stay_there(
        self, server: Any, host: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "netrc").write_text("default login alice password secret")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        fetch_text(f"http://{host}/", names(LOOPBACK))
        assert "Authorization" not in server.seen[0][1]


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
            ((200, {"Content-Type": "text/" + "x" * 300}, TIDES), "content_type_unsupported"),
            ((200, {"Content-Type": "text/pl\u00e4in"}, TIDES), "content_type_unsupported"),
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

    def test_a_page_that_names_its_own_encoding(self, server: Any, host: str) -> None:
        page = '<html><head><meta charset="windows-1251"><body>Прилив'.encode("cp1251")
        server.pages["/"] = (200, {"Content-Type": "text/html"}, page)
        assert "Прилив" in fetch_text(f"http://{host}/", names(LOOPBACK)).content.decode()

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nTwo",
                "url_unreachable",
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nTw",
                "url_unreachable",
            ),
            (b"", "url_unreachable"),
            (b"SSH-2.0-OpenSSH_9.9\r\n", "url_unreachable"),
            (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "url_unreachable"),
            (b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 5_000 + b"\r\n", "url_unreachable"),
            (b"HTTP/1.1 304 Not Modified\r\n\r\n", "http_error"),
        ],
    )
    def test_answers_that_are_damaged(self, raw_host: Any, answer: bytes, code: str) -> None:
        assert refusal(f"http://{raw_host(answer)}/", names(LOOPBACK)) == code

    @pytest.mark.parametrize(
        "answer", [b"", b"SSH-2.0-OpenSSH_9.9\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 5_000]
    )
    def test_no_refusal_has_the_query_which_may_be_a_key(self, raw_host: Any, answer: bytes) -> None:
        key = token_hex()
        with pytest.raises(UrlRefused) as refused:
            fetch_text(f"http://{raw_host(answer)}/?key={key}", names(LOOPBACK))
        assert key not in "".join(traceback.format_exception(refused.value))

    def test_a_redirect_to_bytes_that_are_no_text(self, server: Any, host: str, raw_host: Any) -> None:
        name = raw_host(b"HTTP/1.1 302 Found\r\nLocation: /\xff\xfe?\xc3\xa4\r\nContent-Length: 0\r\n\r\n")
        assert refusal(f"http://{name}/", names(LOOPBACK)) == "too_many_redirects"


class TestWaiting:
    """Limits are shortened; what is told is which of them ended it."""

    def test_a_server_that_sends_forever_a_little(
        self, host: str, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every wait is short enough, and all of them together are not."""
        stop = threading.Event()

        def drip(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain")
            handler.end_headers()
            while not stop.wait(0.05):
                handler.wfile.write(b".")

        monkeypatch.setattr(Answers, "do_GET", drip)
        try:
            assert refusal(f"http://{host}/", names(LOOPBACK), RequestLimits(total_s=0.5)) == "timeout"
        finally:
            stop.set()

    def test_a_server_that_says_nothing_after_its_headers(
        self, host: str, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stop = threading.Event()

        def hang(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain")
            handler.end_headers()
            stop.wait(60)

        monkeypatch.setattr(Answers, "do_GET", hang)
        try:
            assert refusal(f"http://{host}/", names(LOOPBACK), RequestLimits(read_s=0.2)) == "timeout"
        finally:
            stop.set()

    def test_a_name_server_that_does_not_answer(self) -> None:
        never = threading.Event()
        limits = RequestLimits(connect_s=0.2)
        assert refusal("http://sea.test/", lambda *_: never.wait(30), limits) == "timeout"
        never.set()

    def test_a_server_without_tls(self, host: str, server: Any) -> None:
        assert refusal(f"https://{host}/", names(LOOPBACK)) == "tls_error"
