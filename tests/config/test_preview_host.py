"""The host of PREVIEW_ORIGIN serves previews and nothing else."""

import asyncio
from typing import Any

import pytest

from config import environment
from config.asgi_middleware import PreviewHost

pytestmark = pytest.mark.pure
ORIGIN = "https://preview.example.org"


def ask(
    host: str, path: str, *, origin: str = ORIGIN, kind: str = "http"
) -> tuple[Any, list[dict[str, Any]]]:
    """The scope that the application sees (None if it is not asked), and what else is sent."""
    seen: list[Any] = []
    sent: list[dict[str, Any]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [
        (b"host", host.encode()),
        (b"cookie", b"sessionid=1"),
        (b"authorization", b"Token x"),
        (b"accept", b"*/*"),
    ]
    scope = {"type": kind, "path": path, "headers": headers}
    asyncio.run(PreviewHost(application, origin)(scope, None, send))
    return (seen[0] if seen else None), sent


@pytest.mark.parametrize(
    "host", ["preview.example.org", "preview.example.org:8443", "PREVIEW.example.org", "preview.example.org."]
)
@pytest.mark.parametrize(
    "path", ["/", "/api/sessions/", "/login/", "/admin/", "/health/ready", "/static/chat/base.css"]
)
def test_there_is_no_page_and_no_api(host: str, path: str) -> None:
    scope, sent = ask(host, path)
    assert scope is None
    assert sent[0]["status"] == 404
    assert not [name for name, _value in sent[0]["headers"] if name == b"set-cookie"]


def test_there_is_no_socket() -> None:
    scope, sent = ask("preview.example.org", "/ws/", kind="websocket")
    assert scope is None
    assert [message["type"] for message in sent] == ["websocket.close"]


@pytest.mark.parametrize(
    "path", ["/preview/html/", "/preview/diagram/", "/static/preview/mermaid.0123456789ab.js"]
)
def test_previews_are_asked_for_without_who_asks(path: str) -> None:
    scope, sent = ask("preview.example.org", path)
    assert [name for name, _value in scope["headers"]] == [b"host", b"accept"]
    assert sent == []


@pytest.mark.parametrize(
    "host", ["chat.example.org", "preview.example.org.evil.example", "[::1]:80", "[", ""]
)
def test_other_hosts_serve_everything_as_before(host: str) -> None:
    for path in ("/", "/preview/html/"):
        scope, _sent = ask(host, path)
        assert (b"cookie", b"sessionid=1") in scope["headers"]


def test_without_an_origin_nothing_changes() -> None:
    scope, _sent = ask("preview.example.org", "/api/sessions/", origin="")
    assert scope is not None


@pytest.mark.parametrize(
    "value", ["https://preview.example.org", "http://preview.test:8000", "https://Preview.Example.org/"]
)
def test_an_origin_is_a_scheme_and_a_host(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREVIEW_ORIGIN", value)
    found = environment.origin("PREVIEW_ORIGIN", of_others=["chat.example.org"])
    assert found == value.lower().removesuffix("/")


@pytest.mark.parametrize(
    "value",
    [
        "preview.example.org",
        "https://preview.example.org/path",
        "https://a b",
        "https://x; script-src *",
        "ftp://x",
        "https://[::1]",
    ],
)
def test_anything_else_stops_the_start(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREVIEW_ORIGIN", value)
    with pytest.raises(SystemExit):
        environment.origin("PREVIEW_ORIGIN", of_others=[])
    assert "is not an origin such as" in capsys.readouterr().err


def test_it_must_not_be_a_host_of_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREVIEW_ORIGIN", "https://chat.example.org:8443")
    with pytest.raises(SystemExit):
        environment.origin("PREVIEW_ORIGIN", of_others=["chat.example.org"])
    assert "choose a host of its own" in capsys.readouterr().err
