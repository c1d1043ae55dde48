"""Periodic checks of subscriptions: heal feeds that fell behind their log, send queue positions and heartbeats.

A lost publication is noticed at the next one; the watchdog finds a lost last publication of a run.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from django.db import DatabaseError
from redis.exceptions import RedisError

from chat.events.frames import Heartbeat, Queued
from chat.infrastructure.background import in_thread, start_task
from chat.infrastructure.server_waits import read_waits
from chat.log.cursor import START
from chat.log.stream import Log, event_log, positions, run_log
from chat.models import Run
from chat.protocol.wire import encode
from web.socket.feed import LogFeed, SubscriptionFeeds
from web.socket.outbox import Outbox
from web.socket.session_snapshot import find_ended

logger = logging.getLogger(__name__)


@dataclass
class WatchdogIntervals:
    """Intervals in seconds. Tests shorten them."""

    tick_s: float = 1.0
    # Together with the tick, a lost last publication is found within 4.5 s and healed within 5 s.
    compare_after_s: float = 3.5
    queued_after_s: float = 1.0
    heartbeat_after_s: float = 15.0


class WatchedSubscription(Protocol):
    session: str
    outbox: Outbox
    feeds: SubscriptionFeeds

    def heal(self, feed: LogFeed) -> None: ...


class Watchdog:
    """A task that runs while there are subscriptions to check."""

    def __init__(self, intervals: WatchdogIntervals | None = None) -> None:
        self.intervals = intervals or WatchdogIntervals()
        self._watched: set[WatchedSubscription] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, subscription: WatchedSubscription) -> None:
        self._watched.add(subscription)
        if self._task is None:
            self._task = start_task("watchdog", self._keep_watching)

    def remove(self, subscription: WatchedSubscription) -> None:
        self._watched.discard(subscription)
        if not self._watched and self._task:
            self._task.cancel()
            self._task = None

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(self.intervals.tick_s)
            now = asyncio.get_running_loop().time()
            try:
                await self._compare(now)
                await self._send_queue_positions(now)
                await self._send_server_waits(now)
            except (RedisError, DatabaseError, OSError) as error:
                logger.warning("positions are compared later: %s", error)
            self._send_heartbeats(now)

    async def _compare(self, now: float) -> None:
        """Heal the feeds that received no publication although their logs grew."""
        silent = [
            (subscription, feed)
            for subscription, feed in self._feeds()
            if now - feed.checked_at >= self.intervals.compare_after_s and not feed.is_healing
        ]
        logs = list({_log(subscription, feed) for subscription, feed in silent})
        if not logs:
            return
        latest = dict(zip(logs, await positions(logs), strict=True))
        behind = {
            feed for subscription, feed in silent if (latest[_log(subscription, feed)] or START) > feed.cursor
        }
        # A log with nothing newer may have been lost before its `stop`; the database has the run's status.
        quiet = {feed.name for _, feed in silent if feed not in behind and feed.name != "-"}
        ended = await in_thread(find_ended, quiet) if quiet else set()
        for subscription, feed in silent:
            feed.checked_at = max(feed.checked_at, now)
            if feed in behind or feed.name in ended:
                subscription.heal(feed)

    async def _send_queue_positions(self, now: float) -> None:
        waiting = [
            (subscription, feed)
            for subscription, feed in self._feeds()
            if feed.is_empty
            and now - feed.followed_since >= self.intervals.queued_after_s
            and feed.name != "-"
        ]
        if not waiting:
            return
        runs = [UUID(feed.name) for _, feed in waiting]
        queue_positions = await in_thread(Run.objects.read_queue_positions, runs)
        for subscription, feed in waiting:
            position = queue_positions.get(feed.name)
            if position is not None:
                _send_position(subscription, feed, position)

    async def _send_server_waits(self, now: float) -> None:
        """Send the queue positions of started runs that wait for a model server with a limit on concurrent requests."""
        silent = [
            (subscription, feed)
            for subscription, feed in self._feeds()
            if feed.name != "-"
            and not feed.is_empty
            and now - feed.published_at >= self.intervals.queued_after_s
        ]
        waits = await read_waits({feed.name for _, feed in silent})
        for subscription, feed in silent:
            _send_position(subscription, feed, waits.get(feed.name))

    def _send_heartbeats(self, now: float) -> None:
        for subscription, feed in self._feeds():
            silent_since = max(feed.published_at, feed.heartbeat_at)
            has_started = feed.name != "-" and not feed.is_empty
            if has_started and now - silent_since >= self.intervals.heartbeat_after_s:
                feed.heartbeat_at = now
                subscription.outbox.put(encode(Heartbeat(feed.name)))

    def _feeds(self) -> Iterator[tuple[WatchedSubscription, LogFeed]]:
        for subscription in list(self._watched):
            yield subscription, subscription.feeds.events
            for feed in list(subscription.feeds.live.values()):
                yield subscription, feed


def _send_position(subscription: WatchedSubscription, feed: LogFeed, position: int | None) -> None:
    """Send the queue position, unless it was sent before. None: the run does not wait any more."""
    if position != feed.queue_position:
        feed.queue_position = position
        subscription.outbox.put(encode(Queued(feed.name, position)))


def _log(subscription: WatchedSubscription, feed: LogFeed) -> Log:
    session = subscription.session
    return event_log(session) if feed.name == "-" else run_log(session, feed.name)
