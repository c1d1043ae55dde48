"""Routes from websocket paths to consumers. Every other path is rejected at the handshake."""

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from web.socket.consumer import SocketConsumer


async def reject_unknown_path(_scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.close"})


websockets = URLRouter([path("ws/", SocketConsumer.as_asgi()), re_path(r"", reject_unknown_path)])  # type: ignore[arg-type]
