"""A killed web process frees the places that its sockets took in their user's quota."""

import asyncio
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from tests import sockets
from tests.faults.cluster import Cluster
from tests.stack import constants

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


async def reply_to_ping(client: sockets.Client) -> str | int:
    """The type of the reply, or the code with which the server has closed."""
    try:
        kind: str = (await client.ask(type="ping"))["type"]
    except ConnectionClosed:
        return client.connection.close_code
    return kind if kind == "pong" else await client.close_code()


async def test_sockets_of_a_killed_web_process_stop_counting_by_themselves() -> None:
    with Cluster.running(**constants(MAX_SOCKETS_PER_USER=1)) as cluster:
        address = urlsplit(cluster.stack.base_url).netloc
        token = {"Authorization": f"Token {cluster.stack.manage('create_token', 'alice').strip()}"}
        async with sockets.socket(address, **token) as first:
            assert await reply_to_ping(first) == "pong"
            async with sockets.socket(address, **token) as second:
                assert await reply_to_ping(second) == 4430
            await asyncio.to_thread(cluster.kill, "web")
            await asyncio.to_thread(cluster.restore)
        replies = []
        async with asyncio.timeout(120):
            while "pong" not in replies:
                async with sockets.socket(address, **token) as again:
                    replies.append(await reply_to_ping(again))
                await asyncio.sleep(1)
        # Not because the quota was forgotten.
        assert set(replies[:-1]) <= {4430}
