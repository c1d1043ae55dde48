"""A client that uploads files, and counts the frames that its sockets receive about each."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from websockets.asyncio.client import connect

from tests.faults.cluster import Cluster

PATIENCE_S = 150
ENDED = ("ready", "failed")


class Uploader:
    """frames: of type `file`, in the order of their arrival, by socket."""

    def __init__(self, cluster: Cluster, token: str) -> None:
        self.base_url = cluster.stack.base_url
        self.headers = {"Authorization": f"Token {token}"}
        self.frames: list[list[dict[str, Any]]] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def logged_in(
        cls, cluster: Cluster, name: str = "alice", sockets: int = 2
    ) -> AsyncIterator["Uploader"]:
        async with httpx2.AsyncClient(trust_env=False) as http:
            login = {"username": name, "password": name}
            answer = await http.post(f"{cluster.stack.base_url}/api/auth/token/", json=login)
        uploader = cls(cluster, answer.json()["token"])
        tasks = [asyncio.create_task(uploader.listen()) for _ in range(sockets)]
        try:
            async with asyncio.timeout(PATIENCE_S):
                while len(uploader.frames) < sockets:  # noqa: ASYNC110  several sockets, each of its own task
                    await asyncio.sleep(0.01)
            yield uploader
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def listen(self) -> None:
        """Connect, again after each loss, and keep what arrives about files."""
        seen: list[dict[str, Any]] = []
        address = self.base_url.replace("http", "ws") + "/ws/"
        while True:
            with contextlib.suppress(OSError, Exception):
                async with connect(address, additional_headers=self.headers, proxy=None) as socket:
                    await socket.send('{"type": "ping"}')
                    async for frame in socket:
                        for line in str(frame).split("\n"):
                            message = json.loads(line)
                            if message["type"] == "pong" and not any(one is seen for one in self.frames):
                                self.frames.append(seen)
                            if message["type"] == "file":
                                seen.append(message)
            await asyncio.sleep(0.1)

    async def ask(self, method: str, path: str, **options: Any) -> Any:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            return await http.request(method, f"{self.base_url}/api/{path}", headers=self.headers, **options)

    async def upload(self, name: str, content: bytes) -> str:
        answer = await self.ask("POST", "files/", files={"file": (name, content)})
        assert answer.status_code == 201, answer.text
        assert answer.json()["status"] == "processing"
        return str(answer.json()["id"])

    async def ended(self, pk: str) -> dict[str, Any]:
        """The file, once it is ready or failed and every socket has been told so."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                shape = (await self.ask("GET", f"files/{pk}/")).json()
                if shape["status"] in ENDED and all(self.ends(pk)):
                    return dict(shape)
                await asyncio.sleep(0.1)

    async def told(self, pk: str) -> dict[str, Any]:
        """The frame that says how the file ended, once every socket has it."""
        async with asyncio.timeout(PATIENCE_S):
            while not all(self.ends(pk)):  # noqa: ASYNC110  several sockets, each of its own task
                await asyncio.sleep(0.02)
        return self.ends(pk)[0][0]

    def ends(self, pk: str) -> list[list[dict[str, Any]]]:
        """The frames that say how the file ended, by socket."""
        return [[one for one in seen if one["id"] == pk and one["status"] in ENDED] for seen in self.frames]
