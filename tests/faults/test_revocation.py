"""A socket in the middle of an answer is closed when its token is deleted at another web process."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.e2e.client import Client
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.instance import free_port

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.fixture
def second_web(cluster: Cluster) -> Iterator[str]:
    port = free_port()
    cluster.stack.start("web", "web.2", {"PORT": str(port)})
    url = f"http://127.0.0.1:{port}"
    cluster.wait_until(lambda: is_ready(url), "the second web process")
    yield url
    cluster.kill("web.2")


def is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/health/ready", timeout=5, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


async def close_code(socket: ClientConnection) -> int | None:
    """Read until the server closes."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await socket.recv()
    return socket.close_code


async def test_a_deleted_token_closes_its_sockets_everywhere_and_the_answer_goes_on(
    cluster: Cluster, second_web: str
) -> None:
    cluster.upstream.reply({"words": 1500, "every_s": 0.02})
    async with Client.login(cluster.stack.base_url, "alice", "alice") as alice:
        session = await alice.new_session()
        address = f"{alice.base_url.replace('http', 'ws')}/ws/"
        headers = {"Authorization": f"Token {alice.token}"}
        async with connect(address, additional_headers=headers, proxy=None) as socket:
            await socket.send(json.dumps({"type": "subscribe", "session": session["id"]}))
            run = (await alice.ask(session, "Count"))["runs"][0]["id"]
            while '"text":"10 "' not in str(await socket.recv()):
                pass
            async with Client.login(second_web, "alice", "alice") as elsewhere:
                tokens = await elsewhere.call("GET", "auth/tokens/")
                (own,) = (one["id"] for one in tokens if alice.token.startswith(one["start"]))
                await elsewhere.call("DELETE", f"auth/tokens/{own}/", status=204)
            deleted_at = time.monotonic()
            # Below the time after which a socket checks by itself.
            async with asyncio.timeout(10):
                code = await close_code(socket)
            what = "token deleted at another web process: to the socket's end"
            record("A2", what, time.monotonic() - deleted_at)
            assert code == 4401
        async with Client.login(cluster.stack.base_url, "alice", "alice") as again:
            # The end of a login is not a stop.
            assert (await again.call("GET", f"runs/{run}/"))["status"] == "running"
            await again.call("POST", f"runs/{run}/cancellation/", status=202)
