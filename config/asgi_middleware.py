"""What stands between the web server and the application: addresses of trusted proxies, the host of previews, and Django's handler."""

import logging
from typing import Any, Final
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http.response import HttpResponseBase
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from web.rest.request_bodies import BodyNotStored

# The paths that the host of previews serves, and the headers that it removes.
SERVED: Final = ("/preview/", "/static/preview/")
_SECRETS: Final = (b"cookie", b"authorization")

logger = logging.getLogger(__name__)


class HttpHandler(ASGIHandler):
    """Django's ASGI handler, which closes a response that raises while it is sent, and keeps no content that was sent.
    A body that has no room in the temporary folder is left to web/rest/request_bodies.py.

    Django omits that: a slot or an open content that the response holds would never be released, nor would a database
    connection of the request. The content would stay until a later collection, since the handler's tasks, their exceptions
    and its frames refer to each other.
    """

    async def read_body(self, receive: Any) -> Any:
        try:
            return await super().read_body(receive)
        except OSError as error:
            raise BodyNotStored from error

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        try:
            await super().send_response(response, send)
        except Exception:
            await sync_to_async(response.close)()
            raise
        finally:
            if not response.streaming:
                response.content = b""  # type: ignore[attr-defined]


class PreviewHost:
    """Limits the host of PREVIEW_ORIGIN to the documents of previews and their scripts. Without an origin it does nothing.

    There is no page, API or socket, and cookies and the header Authorization are removed from requests. The port is not
    compared: a proxy may not pass it on.
    """

    def __init__(self, app: Any, origin: str) -> None:
        self.app = app
        self.host = urlsplit(origin).hostname

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.host is None or scope["type"] == "lifespan" or _host(scope) != self.host:
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(SERVED):
            headers = [(name, value) for name, value in scope["headers"] if name not in _SECRETS]
            await self.app({**scope, "headers": headers}, receive, send)
        else:
            await _refuse(scope["type"], send)


def _host(scope: Any) -> str:
    """Return the name in the header Host, in lower case and without the port; empty if it is not a valid name."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    try:
        # As Django does, a dot at the end is dropped: it means the same host.
        return (urlsplit(f"//{host.decode('latin-1')}").hostname or "").removesuffix(".")
    except ValueError:
        return ""


async def _refuse(kind: str, send: Any) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": b"Not found.\n"})


class TrustedProxies(ProxyHeadersMiddleware):
    """Takes the client's address and scheme from the headers of trusted proxies (TRUSTED_PROXIES) only.

    The parsing is uvicorn's. In X-Forwarded-For the last address that is not a trusted proxy counts: the addresses before
    it may be the client's own invention. It warns once of a proxy that is not trusted: its clients share one address and
    one limit.
    """

    has_warned = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not self.has_warned and scope["type"] != "lifespan":
            self._warn_of_ignored_header(scope)
        await super().__call__(scope, receive, send)

    def _warn_of_ignored_header(self, scope: Any) -> None:
        peer = (scope.get("client") or ("",))[0]
        if peer not in self.trusted_hosts and any(name == b"x-forwarded-for" for name, _ in scope["headers"]):
            self.has_warned = True
            logger.warning("X-Forwarded-For from %s is ignored: it is not in TRUSTED_PROXIES", peer)
