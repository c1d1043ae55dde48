"""What a hub does without being told: it compares positions after a silence, tells places in the queue, and
shows that a silent run is alive.

A lost publication is noticed by the next one; only the last one of a run needs this.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DatabaseError
from redis.exceptions import RedisError

from chat.infrastructure.threads import in_thread
from chat.log.cursor import START
from chat.log.stream import Log, event_log, positions, run_log
from chat.protocol.wire import encode
from web.socket.feed import Feed
from web.socket.session_view import ended_among, queue_positions

if TYPE_CHECKING:
    from web.socket.subscription import Subscription

logger = logging.getLogger(__name__)


@dataclass
class Pace:
    """Seconds. Tests shorten them."""

    tick_s: float = 1.0
    # With the tick, a lost last publication is found at most 4.5 s after it: healed within 5 s.
    compare_after_s: float = 3.5
    queued_after_s: float = 1.0
    heartbeat_after_s: float = 15.0


class Watch:
    """Runs while it has subscriptions to watch."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self._watched: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, subscription: "Subscription") -> None:
        self._watched.add(subscription)
        if self._task is None:
            self._task = asyncio.create_task(self._keep_watching(), name="watch")

    def remove(self, subscription: "Subscription") -> None:
        self._watched.discard(subscription)
        if not self._watched and self._task:
            self._task.cancel()
            self._task = None

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(self.pace.tick_s)
            now = asyncio.get_running_loop().time()
            try:
                await self._compare(now)
                await self._tell_places(now)
            except (RedisError, DatabaseError, OSError) as error:
                logger.warning("positions are compared later: %s", error)
            self._beat(now)

    async def _compare(self, now: float) -> None:
        """Heal the feeds that have been silent while their logs went on."""
        silent = [
            (subscription, feed)
            for subscription, feed in self._feeds()
            if now - feed.heard_at >= self.pace.compare_after_s and not feed.is_healing
        ]
        logs = list({_log(subscription, feed) for subscription, feed in silent})
        if not logs:
            return
        held = dict(zip(logs, await positions(logs), strict=True))
        behind = [(one, feed) for one, feed in silent if (held[_log(one, feed)] or START) > feed.cursor]
        # A log with nothing newer may have been lost before its `stop`; the rows know.
        quiet = {feed.name for one, feed in silent if (one, feed) not in behind and feed.name != "-"}
        ended = await in_thread(ended_among, quiet) if quiet else set()
        for subscription, feed in silent:
            feed.heard_at = max(feed.heard_at, now)
            if (subscription, feed) in behind or feed.name in ended:
                subscription.heal(feed)

    async def _tell_places(self, now: float) -> None:
        waiting = [
            (subscription, feed)
            for subscription, feed in self._feeds()
            if feed.is_untouched and now - feed.since >= self.pace.queued_after_s and feed.name != "-"
        ]
        if not waiting:
            return
        places = await in_thread(queue_positions, {feed.name for _, feed in waiting})
        for subscription, feed in waiting:
            place = places.get(feed.name)
            if place is not None and place != feed.queue_position:
                feed.queue_position = place
                subscription.outbox.put(encode({"type": "queued", "run": feed.name, "position": place}))

    def _beat(self, now: float) -> None:
        for subscription, feed in self._feeds():
            quiet_since = max(feed.spoke_at, feed.beat_at)
            is_begun = feed.name != "-" and not feed.is_untouched
            if is_begun and now - quiet_since >= self.pace.heartbeat_after_s:
                feed.beat_at = now
                subscription.outbox.put(encode({"type": "heartbeat", "run": feed.name}))

    def _feeds(self) -> "Iterator[tuple[Subscription, Feed]]":
        for subscription in list(self._watched):
            yield subscription, subscription.feeds.events
            for feed in list(subscription.feeds.live.values()):
                yield subscription, feed


def _log(subscription: "Subscription", feed: Feed) -> Log:
    session = subscription.session
    return event_log(session) if feed.name == "-" else run_log(session, feed.name)
