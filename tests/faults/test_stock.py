"""What stock Celery with Channels' group_send does under F1, F9 and F19, by the same upstream and the same Valkey.

For the comparison in docs/guarantees.md. These tests do not say that it should: they say that it does.
"""

import asyncio
import time
from collections.abc import Iterator

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.proxy import TO_CLIENT, Proxy
from tests.faults.scenario import words
from tests.faults.stock.processes import Screen, Stock

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]
HOUR_S = 3600
BEGUN, REST = words(5), "and the rest"


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """Its own web, workers and sweeper have nothing to do here."""
    shared_cluster.restore([])
    return shared_cluster


@pytest.fixture
def stock(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Stock]:
    with Stock.running(cluster, **getattr(request, "param", {})) as stock:
        yield stock


async def twenty_and_a_kill(stock: Stock, screens: list[Screen]) -> None:
    """Twenty answers are on their way; another worker joins; the first one is killed."""
    stock.upstream.reply({"words": 5}, {"wait": "the kill"}, {"text": REST}, contains="Count")
    for screen in screens:
        await screen.ask()
    for screen in screens:
        await screen.showing(BEGUN)
    await asyncio.to_thread(stock.start_worker, "worker.2")
    stock.kill("worker.1")
    stock.upstream.release("the kill")
    calls = stock.upstream.requests
    await asyncio.to_thread(stock.upstream.wait_for, lambda: all(call.ended for call in calls))


async def assert_that_it_answers(stock: Stock, taken: int = 0) -> None:
    """Whatever the workers were sent before this has been looked at. taken: messages that nobody acknowledges."""
    async with stock.screens(1) as (screen,):
        await screen.ask("Are you there?")
        assert await screen.ended() == "You said: Are you there?"
    await asyncio.to_thread(
        stock.cluster.wait_until,
        lambda: stock.undone() == (0, taken),
        f"nothing waits, and {taken} are taken",
    )


async def test_by_default_answers_of_a_killed_stock_worker_are_lost_and_nobody_is_told(stock: Stock) -> None:
    async with stock.screens(20) as screens:
        await twenty_and_a_kill(stock, screens)
        await assert_that_it_answers(stock)
        assert [stock.saved(screen.run) for screen in screens] == [[]] * 20
        assert {screen.text for screen in screens} == {BEGUN}
        assert {kind for screen in screens for kind in screen.kinds} == {"word"}


@pytest.mark.parametrize("stock", [{"STOCK_ACKS_LATE": "1"}], indirect=True)
async def test_acknowledged_late_they_begin_again_after_an_hour_behind_what_the_screen_shows(
    stock: Stock,
) -> None:
    async with stock.screens(20) as screens:
        await twenty_and_a_kill(stock, screens)
        await assert_that_it_answers(stock, taken=20)
        assert {screen.text for screen in screens} == {BEGUN}
        with stock.redis() as client:
            waiting = client.zrange("unacked_index", 0, -1, withscores=True)
            again_in_s = [taken_at + HOUR_S - time.time() for _, taken_at in waiting]
            assert min(again_in_s) > HOUR_S / 2
            record("F1", "stock, acks_late: kill to its next attempt", again_in_s)
            # The hour passes. A worker looks when it starts, and every 100 s.
            for tag, _ in waiting:
                client.zincrby("unacked_index", -HOUR_S, tag)
        await asyncio.to_thread(stock.start_worker, "worker.3")
        for screen in screens:
            assert await screen.ended() == BEGUN + BEGUN + REST
        assert [stock.saved(screen.run) for screen in screens] == [[BEGUN + REST]] * 20


@pytest.mark.parametrize("stock", [{"STOCK_ACKS_LATE": "1", "STOCK_VISIBILITY_TIMEOUT": "1"}], indirect=True)
async def test_with_a_shorter_timeout_answers_of_living_stock_workers_are_doubled(stock: Stock) -> None:
    stock.upstream.reply({"text": BEGUN}, {"wait": "both"}, {"text": REST})
    async with stock.screens(1) as (screen,):
        await screen.ask()
        await screen.showing(BEGUN)
        # Longer than the timeout: any worker that starts then looks for what is overdue.
        await asyncio.sleep(2)
        await asyncio.to_thread(stock.start_worker, "worker.2")
        await screen.showing(BEGUN + BEGUN)
        stock.upstream.release("both")
        await screen.ended(times=2)
    assert stock.saved(screen.run) == [BEGUN + REST] * 2
    assert len(stock.upstream.requests) == 2


@pytest.mark.parametrize(
    "stock", [pytest.param({}, id="early"), pytest.param({"STOCK_ACKS_LATE": "1"}, id="late")], indirect=True
)
async def test_a_message_delivered_five_times_is_five_answers(stock: Stock) -> None:
    stock.upstream.reply({"words": 5}, {"wait": "all"}, {"text": REST})
    async with stock.screens(1) as (screen,):
        stock.send(screen.run, "Count", times=5)
        await asyncio.to_thread(stock.upstream.wait_for_requests, 5)
        stock.upstream.release("all")
        await screen.ended(times=5)
    assert stock.saved(screen.run) == [words(5) + REST] * 5
    assert (screen.text.count("3 "), screen.text.count(REST)) == (5, 5)
    assert len(stock.upstream.requests) == 5


@pytest.fixture
def lossy(cluster: Cluster) -> Iterator[Proxy]:
    with Proxy.before(cluster.redis_url) as proxy:
        yield proxy


@pytest.fixture
def stock_with_losses(cluster: Cluster, lossy: Proxy) -> Iterator[Stock]:
    with Stock.running(cluster, layer_of_web=lossy.url.rpartition("/")[0] + "/3") as stock:
        yield stock


async def lose(stock: Stock, lossy: Proxy, what: bytes) -> None:
    """Release what the upstream holds back, and throw it away on its way to the web process."""
    lossy.discard(TO_CLIENT)
    stock.upstream.release("the loss")
    await asyncio.to_thread(
        stock.cluster.wait_until, lambda: lossy.has_discarded(what, TO_CLIENT), f"{what!r} is lost"
    )
    lossy.heal()


async def test_words_of_a_lost_publication_are_missing_and_nobody_is_told(
    stock_with_losses: Stock, lossy: Proxy
) -> None:
    stock = stock_with_losses
    stock.upstream.reply(
        {"text": BEGUN}, {"wait": "the loss"}, {"text": "lost "}, {"wait": "the rest"}, {"text": REST}
    )
    async with stock.screens(1) as (screen,):
        await screen.ask()
        await screen.showing(BEGUN)
        await lose(stock, lossy, b"lost ")
        stock.upstream.release("the rest")
        assert await screen.ended() == BEGUN + REST
        assert stock.saved(screen.run) == [BEGUN + "lost " + REST]
        assert screen.kinds == ["word", "word", "end"]


async def test_a_lost_last_publication_leaves_the_screen_waiting_for_ever(
    stock_with_losses: Stock, lossy: Proxy
) -> None:
    stock = stock_with_losses
    stock.upstream.reply({"text": BEGUN}, {"wait": "the loss"}, {"text": REST}, contains="Count")
    async with stock.screens(1) as (screen,):
        await screen.ask()
        await screen.showing(BEGUN)
        await lose(stock, lossy, b"\xa3end")
        # Later ones arrive; nothing is left that could tell this screen.
        await assert_that_it_answers(stock)
        assert stock.saved(screen.run) == [BEGUN + REST]
        assert (screen.text, screen.kinds) == (BEGUN, ["word"])
