"""Which websocket addresses there are. Every other one is refused at the handshake."""

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from web.socket.consumer import SocketConsumer


async def nothing_here(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
    await receive()
    await send({"type": "websocket.close"})


websockets = URLRouter([path("ws/", SocketConsumer.as_asgi()), re_path(r"", nothing_here)])  # type: ignore[arg-type]
