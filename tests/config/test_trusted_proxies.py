"""Whose word about a request's address and scheme is taken."""

import asyncio
import logging
from typing import Any

import pytest

from config.asgi_middleware import TrustedProxies

pytestmark = pytest.mark.pure


def seen(
    peer: str, trusted: list[str], *forwarded: str, proto: str = "https", kind: str = "http"
) -> tuple[str, str]:
    """The address and the scheme that the application sees."""
    found: dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found.update(scope)

    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    headers.append((b"x-forwarded-proto", proto.encode()))
    scheme = "http" if kind == "http" else "ws"
    scope = {"type": kind, "client": (peer, 5000), "scheme": scheme, "headers": headers}
    asyncio.run(TrustedProxies(application, trusted)(scope, None, None))  # type: ignore[arg-type]
    return found["client"][0], found["scheme"]


def test_nobody_is_trusted_by_default() -> None:
    assert seen("127.0.0.1", [], "192.0.2.7") == ("127.0.0.1", "http")
    assert seen("10.0.0.5", ["10.0.0.6"], "192.0.2.7") == ("10.0.0.5", "http")


@pytest.mark.parametrize("trusted", ["10.0.0.5", "10.0.0.0/8", "::1,10.0.0.5"])
def test_a_trusted_proxy_says_who_asks_and_how(trusted: str) -> None:
    assert seen("10.0.0.5", trusted.split(","), "192.0.2.7") == ("192.0.2.7", "https")
    assert seen("10.0.0.5", trusted.split(","), "2001:db8::7", kind="websocket") == ("2001:db8::7", "wss")


def test_what_the_client_itself_claims_stands_before_what_the_proxy_saw() -> None:
    trusted = ["10.0.0.0/8"]
    assert seen("10.0.0.5", trusted, "203.0.113.9, 192.0.2.7")[0] == "192.0.2.7"
    assert seen("10.0.0.5", trusted, "203.0.113.9", "192.0.2.7")[0] == "192.0.2.7"
    assert seen("10.0.0.5", trusted, "203.0.113.9, 192.0.2.7, 10.0.0.8")[0] == "192.0.2.7"


def test_a_proxy_that_nobody_trusts_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        pass

    async def ask(middleware: TrustedProxies) -> None:
        scope = {
            "type": "http",
            "client": ("10.0.0.5", 1),
            "headers": [(b"x-forwarded-for", b"192.0.2.7")],
        }
        await middleware(scope, None, None)

    middleware = TrustedProxies(application, [])  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            asyncio.run(ask(middleware))
    assert [record.getMessage() for record in caplog.records] == [
        "X-Forwarded-For from 10.0.0.5 is ignored: it is not in TRUSTED_PROXIES"
    ]
