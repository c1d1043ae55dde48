"""Limits the host of PREVIEW_ORIGIN to the documents of previews and their scripts.

There is no page, API or socket, and cookies and the header Authorization are removed from requests.
"""

from typing import Any, Final
from urllib.parse import urlsplit

SERVED: Final = ("/preview/", "/static/preview/")
_SECRETS: Final = (b"cookie", b"authorization")


class PreviewHost:
    """An ASGI middleware; without an origin it does nothing.

    The port is not compared: a proxy may not pass it on.
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
