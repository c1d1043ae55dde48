"""Clients of model servers: one for each address and key, and a bounded number of them."""

import pytest

from llm_worker.upstream.client_pool import ClientPool, Place

pytestmark = pytest.mark.pure


class Client:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.is_closed = False

    async def close(self) -> None:
        self.is_closed = True


def at(number: int) -> Place:
    return Place(f"http://server{number}/v1", "key", is_guarded=True)


@pytest.fixture
def pool() -> ClientPool[Client]:
    return ClientPool(Client, Client.close, most=2)


async def use(pool: ClientPool[Client], place: Place) -> Client:
    async with pool.borrowed(place) as client:
        assert not client.is_closed
        return client


async def test_the_same_address_and_key_have_one_client(pool: ClientPool[Client]) -> None:
    assert await use(pool, at(1)) is await use(pool, at(1))


async def test_another_key_has_another_client(pool: ClientPool[Client]) -> None:
    assert await use(pool, at(1)) is not await use(pool, at(1)._replace(api_key="new"))


async def test_the_client_that_was_used_longest_ago_is_closed(pool: ClientPool[Client]) -> None:
    first, second = await use(pool, at(1)), await use(pool, at(2))
    await use(pool, at(1))
    await use(pool, at(3))
    assert (first.is_closed, second.is_closed, len(pool)) == (False, True, 2)
    assert await use(pool, at(2)) is not second


async def test_a_client_with_a_request_is_not_closed(pool: ClientPool[Client]) -> None:
    async with pool.borrowed(at(1)) as first:
        await use(pool, at(2))
        await use(pool, at(3))
        assert not first.is_closed
    await use(pool, at(4))
    assert first.is_closed


async def test_all_are_closed_in_the_end(pool: ClientPool[Client]) -> None:
    clients = [await use(pool, at(number)) for number in (1, 2)]
    await pool.close()
    assert all(client.is_closed for client in clients)
    assert len(pool) == 0
