"""Hub and subscriptions against a real Valkey: subscribing, healing, and connections that break."""

import asyncio
import random
import uuid

import pytest
import pytest_asyncio
from msgspec import json

from chat.infrastructure.redis_client import async_redis, close_async_redis
from chat.log.cursor import Cursor
from chat.log.stream import Log, append, run_log
from chat.protocol.errors import ApiError
from tests.relay import Relay
from tests.seeds import seed_of
from web.socket import pubsub, subscription
from web.socket.hub import Hub
from web.socket.outbox import Outbox
from web.socket.session_snapshot import RunSnapshot, SessionSnapshot
from web.socket.subscription import Subscription

pytestmark = pytest.mark.django_db(transaction=True)
LIMIT_S = 60


@pytest_asyncio.fixture
async def hub():
    hub = Hub()
    hub.watchdog.intervals.tick_s = 0.05
    hub.watchdog.intervals.compare_after_s = 0.1
    yield hub
    await hub.close()
    await close_async_redis()


@pytest_asyncio.fixture
async def relay(settings):
    """A TCP relay that only the hub's connection goes through."""
    async_redis()
    relay = Relay()
    await relay.mend()
    settings.REDIS_URL = relay.url
    yield relay
    await relay.cut()


class Follower:
    """One subscriber of a running run, with everything it received."""

    def __init__(self, hub: Hub) -> None:
        self.outbox = Outbox()
        self.session, self.run = uuid.uuid4(), uuid.uuid4()
        self.subscription = Subscription(self.session, self.outbox, hub)
        self.given: list[dict] = []

    @property
    def log(self) -> Log:
        return run_log(self.session, self.run)

    async def join(self, cursor: Cursor | None = None) -> None:
        row = RunSnapshot(
            str(self.run), "t", "m", "model", 0, "running", cursor.attempt if cursor else 1, None
        )
        await self.subscription.join(SessionSnapshot(0, [row]), None, {self.run: cursor} if cursor else {})
        self.subscription.start()

    async def publish(self, first: int, last: int, attempt: int = 1) -> None:
        lines = [
            json.encode({"run": str(self.run), "attempt": attempt, "seq": seq})
            for seq in range(first, last + 1)
        ]
        assert (await append(self.log, attempt, first, lines)).outcome == "ok"

    async def lose(self, first: int, last: int) -> None:
        """Append to the log, but publish on a channel without subscribers."""
        lines = [
            json.encode({"run": str(self.run), "attempt": 1, "seq": seq}) for seq in range(first, last + 1)
        ]
        await append(self.log._replace(channel="nowhere"), 1, first, lines)

    async def until(self, seq: int, attempt: int = 1) -> list[int]:
        """Take until this packet has arrived; return the seqs received so far."""
        async with asyncio.timeout(LIMIT_S):
            while not any(one.get("seq") == seq and one["attempt"] == attempt for one in self.given):
                assert await self.outbox.wait()
                self.given += [json.decode(line) for line in self.outbox.take().split("\n")]
        return [one["seq"] for one in self.given if "seq" in one]


async def test_packets_come_live_and_in_order(hub):
    follower = Follower(hub)
    await follower.join()
    for first in (1, 4, 7):
        await follower.publish(first, first + 2)
    assert await follower.until(9) == list(range(1, 10))


async def test_what_was_before_is_read_from_the_log(hub):
    follower = Follower(hub)
    await follower.publish(1, 200)
    await follower.join(Cursor(1, 30))
    await follower.publish(201, 202)
    assert await follower.until(202) == list(range(31, 203))


async def test_a_lost_publication_is_healed_by_the_next(hub):
    hub.watchdog.intervals.compare_after_s = 3600
    follower = Follower(hub)
    await follower.join()
    await follower.publish(1, 2)
    await follower.until(2)
    await follower.lose(3, 5)
    await follower.publish(6, 6)
    assert await follower.until(6) == [1, 2, 3, 4, 5, 6]


async def test_the_last_publication_lost_is_found_by_comparing_positions(hub):
    follower = Follower(hub)
    await follower.join()
    await follower.publish(1, 2)
    await follower.until(2)
    await follower.lose(3, 4)
    assert await follower.until(4) == [1, 2, 3, 4]


async def test_a_newer_attempt_is_announced(hub):
    follower = Follower(hub)
    await follower.join()
    await follower.publish(1, 3)
    await follower.until(3)
    await follower.publish(1, 2, attempt=2)
    await follower.until(2, attempt=2)
    reset = {"type": "reset", "run": str(follower.run), "attempt": 2, "reason": "new_attempt"}
    assert [one for one in follower.given if "seq" not in one] == [reset]
    assert follower.given.index(reset) == 3


async def test_a_newer_attempt_missed_while_away_is_announced(hub):
    follower = Follower(hub)
    await follower.publish(1, 2, attempt=2)
    await follower.join(Cursor(2, 1)._replace(attempt=1, seq=9))
    await follower.until(2, attempt=2)
    assert [one.get("type", one.get("seq")) for one in follower.given] == ["reset", 1, 2]


async def test_a_log_that_was_lost_and_sent_again_repeats_nothing(hub):
    follower = Follower(hub)
    await follower.join()
    await follower.publish(1, 5)
    await follower.until(5)
    await async_redis().delete(follower.log.meta, follower.log.entries)
    await follower.publish(1, 7)
    assert await follower.until(7) == [1, 2, 3, 4, 5, 6, 7]


async def test_a_broken_connection_comes_back_and_everybody_is_healed(hub, relay):
    hub.watchdog.intervals.compare_after_s = 3600
    followers = [Follower(hub) for _ in range(5)]
    for follower in followers:
        await follower.join()
        await follower.publish(1, 2)
        await follower.until(2)
    await relay.cut()
    for follower in followers:
        await follower.publish(3, 4)
    await relay.mend()
    for follower in followers:
        assert await follower.until(4) == [1, 2, 3, 4]
        await follower.publish(5, 5)
        assert await follower.until(5) == [1, 2, 3, 4, 5]


async def test_a_connection_whose_peer_hangs_is_replaced_and_everybody_is_healed(hub, relay, monkeypatch):
    monkeypatch.setattr(pubsub, "PING_EVERY_S", 0.2)
    hub.watchdog.intervals.compare_after_s = 3600
    first, second = Follower(hub), Follower(hub)
    await first.join()
    await first.publish(1, 2)
    await first.until(2)
    # The next connection hangs in its handshake.
    relay.freeze(next_too=True)
    await relay.accepts()
    relay.freeze()
    await first.publish(3, 4)
    await second.join()
    assert await first.until(4) == [1, 2, 3, 4]
    for follower in (first, second):
        await follower.publish(5 if follower is first else 1, 5)
        assert await follower.until(5) == [1, 2, 3, 4, 5]


async def test_with_redis_away_subscribing_is_refused_and_works_again_later(hub, relay, monkeypatch):
    monkeypatch.setattr(subscription, "JOIN_TIMEOUT_S", 0.2)
    await relay.cut()
    follower = Follower(hub)
    with pytest.raises(ApiError, match="stream_unavailable"):
        await follower.join()
    follower.subscription.close()
    monkeypatch.setattr(subscription, "JOIN_TIMEOUT_S", LIMIT_S)
    await relay.mend()
    await follower.join()
    await follower.publish(1, 2)
    assert await follower.until(2) == [1, 2]


@pytest.mark.parametrize("side", ["commands", "replies"])
async def test_what_is_published_before_the_confirmation_arrives_is_not_lost(hub, relay, side):
    await hub.join("warm up", Follower(hub).subscription)
    follower = Follower(hub)
    getattr(relay, side).clear()
    joining = asyncio.create_task(follower.join())
    await asyncio.sleep(0.05)
    assert not joining.done()
    await follower.publish(1, 3)
    getattr(relay, side).set()
    await joining
    assert await follower.until(3) == [1, 2, 3]


async def subscribe_race(hub: Hub, dice: random.Random) -> None:
    """Publish at random moments around SUBSCRIBE and its confirmation."""
    follower = Follower(hub)
    last = dice.randint(1, 6)

    async def publish() -> None:
        for seq in range(1, last + 1):
            for _ in range(dice.randint(0, 4)):
                await asyncio.sleep(0)
            await follower.publish(seq, seq)

    await asyncio.gather(follower.join(), publish())
    assert await follower.until(last) == list(range(1, last + 1))
    follower.subscription.close()


async def race_many(hub: Hub, tries: int, record_property) -> None:
    hub.watchdog.intervals.compare_after_s = 3600
    seed = seed_of("RACE_SEED")
    record_property(
        "sampled", f"{tries} of 10000 races of a publication with a subscription, RACE_SEED={seed}"
    )
    dice = random.Random(seed)
    for _ in range(tries // 50):
        await asyncio.gather(*(subscribe_race(hub, dice) for _ in range(50)))


async def test_publishing_while_subscribing_leaves_no_gap(hub, record_property):
    """A sample; all 10,000 tries are in the next test."""
    await race_many(hub, 1000, record_property)


@pytest.mark.fault
@pytest.mark.timeout(600)
async def test_publishing_while_subscribing_leaves_no_gap_in_10_000_tries(hub, record_property):
    await race_many(hub, 10_000, record_property)


async def test_a_channel_is_held_while_anybody_wants_it(hub):
    follower = Follower(hub)
    second = Subscription(follower.session, Outbox(), hub)
    await follower.join()
    await second.join(SessionSnapshot(0, []), None, {})
    follower.subscription.close()
    subscribed = await async_redis().pubsub_numsub(follower.log.channel)
    assert subscribed[0][1] == 1
    second.close()
    async with asyncio.timeout(LIMIT_S):
        while (await async_redis().pubsub_numsub(follower.log.channel))[0][1]:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    assert not hub.topics
