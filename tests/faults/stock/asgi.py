"""The web process of the stock application: one socket per run, which starts the task and forwards group messages."""

from typing import Any

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.routing import ProtocolTypeRouter

from tests.faults.stock.tasks import answer


class Relay(AsyncJsonWebsocketConsumer):
    async def connect(self) -> None:
        self.run = self.scope["path"].rpartition("/")[2]
        await self.channel_layer.group_add(self.run, self.channel_name)
        await self.accept()

    async def receive_json(self, content: dict[str, Any], **_: Any) -> None:
        await sync_to_async(answer.delay)(self.run, content["text"])

    async def word(self, event: dict[str, Any]) -> None:
        await self.send_json(event)

    async def end(self, event: dict[str, Any]) -> None:
        await self.send_json(event)


application = ProtocolTypeRouter({"websocket": Relay.as_asgi()})
