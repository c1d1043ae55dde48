"""One socket's subscription to one session: every packet after its cursors exactly once, in order, then live.

Publications are checked by their headers (chat/log/cursor.py). A gap is healed: it is read from the log or, if the log
is lost, replaced by a snapshot. Meanwhile the feed forwards no publication, so nothing is buffered twice.
"""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DatabaseError
from redis.exceptions import RedisError

from chat.events.frames import Resync
from chat.events.session_events import frames_after, started_runs
from chat.infrastructure.background import in_thread, start_task
from chat.log.cursor import START, Action, Cursor, Decision, Header, Position, decide
from chat.log.stream import EVENTS_ATTEMPT, LogSlice, positions, read, run_log
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from web.socket.feed import LogFeed, SubscriptionFeeds
from web.socket.hub import Hub, Publication, ends_with_stop
from web.socket.outbox import Outbox
from web.socket.replies import Subscribed
from web.socket.session_snapshot import (
    LogReplacement,
    RunSnapshot,
    SessionSnapshot,
    describe_run,
    find_live,
    load_replacement,
    read_session,
)

HEAL_COUNT: Final = 64
RETRY_S: Final = 0.25
# A socket's commands run in sequence: while Redis is unreachable, a stop must not wait long for this one.
JOIN_TIMEOUT_S = 5.0

logger = logging.getLogger(__name__)


class Subscription:
    """A subscription: open() once, send the reply, start(); close() at the end. The hub calls receive() in between."""

    def __init__(self, session: UUID, outbox: Outbox, hub: Hub) -> None:
        self.session = str(session)
        self.outbox = outbox
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self.feeds = SubscriptionFeeds(LogFeed("-", Position(), now, now, now))
        self._has_joined = False
        self._resync_at: int | None = None
        self._healing: set[asyncio.Task[None]] = set()

    async def open(self, user: User, since: int | None, cursors: Mapping[UUID, Cursor]) -> Subscribed:
        """Join and return the reply, which the caller queues before start(). Raises ApiError, RedisError."""
        snapshot = await in_thread(read_session, user, UUID(self.session), list(cursors))
        return await self.join(snapshot, since, cursors)

    async def join(
        self, snapshot: SessionSnapshot, since: int | None, cursors: Mapping[UUID, Cursor]
    ) -> Subscribed:
        """Join as open() does, for a session that is already loaded."""
        by_run = {str(run): cursor for run, cursor in cursors.items()}
        for run in snapshot.runs:
            _check_cursor(by_run.get(run.run, START), run)
        await self._join_channel()
        latest = await positions([run_log(self.session, run.run) for run in snapshot.runs])
        self._place_feeds(snapshot, since, by_run)
        runs = [describe_run(run, position) for run, position in zip(snapshot.runs, latest, strict=True)]
        return Subscribed(session=self.session, n=snapshot.n, runs=runs)

    def start(self) -> None:
        """Replay everything after the cursors, then forward publications."""
        self._has_joined = True
        if self._resync_at is not None:
            self.outbox.put(p.encode(Resync(self.session, self._resync_at)))
        self.heal_everything()
        self._hub.watchdog.add(self)

    def close(self) -> None:
        self._hub.leave(self.session, self)
        self._hub.watchdog.remove(self)
        self._has_joined = False
        for task in self._healing:
            task.cancel()

    # SessionSubscriber, called by the hub

    def receive(self, publication: Publication) -> None:
        """Forward a publication that follows the feed's position; heal the feed if it leaves a gap."""
        if not self._has_joined:
            return
        now = self._loop.time()
        feeds = self.feeds
        feed = feeds.events if publication.name == "-" else feeds.get_or_create(publication.name, now)
        feed.checked_at = feed.published_at = now
        feed.queue_position = None  # a packet ends the waiting
        if feed.has_stopped:
            if publication.header.attempt <= feed.cursor.attempt:
                return
            feeds.resume(feed)
        if feed.is_healing:
            feed.has_gap = True
            return
        decision = feed.position.take(publication.header)
        if decision.action is Action.GAP:
            self.heal(feed)
        elif decision.action is not Action.DUPLICATE:
            if decision.action is not Action.FORWARD:
                self._announce_reset(feed, decision)
            lines = publication.after(decision.skip) if decision.skip else publication.lines
            self.outbox.put(lines, publication.count - decision.skip)
            self._track_runs(feed, lines)

    def heal_everything(self) -> None:
        if self._has_joined:
            self.heal(self.feeds.events)
            for feed in self.feeds.live.values():
                self.heal(feed)

    def heal(self, feed: LogFeed) -> None:
        """Read the log after the cursor in a task. The log also has the publications that arrive meanwhile."""
        feed.has_gap = True
        if not feed.is_healing:
            feed.is_healing = True
            task = start_task("healing of a subscription", partial(self._heal, feed))
            self._healing.add(task)
            task.add_done_callback(self._healing.discard)

    # Joining

    async def _join_channel(self) -> None:
        try:
            async with asyncio.timeout(JOIN_TIMEOUT_S):
                await self._hub.join(self.session, self)
        except TimeoutError:
            raise ApiError("stream_unavailable") from None

    def _place_feeds(
        self, snapshot: SessionSnapshot, since: int | None, cursors: Mapping[str, Cursor]
    ) -> None:
        now = self._loop.time()
        n = snapshot.n if since is None else since
        if n > snapshot.n:
            # The database was restored from a backup that lacks events this client has.
            self._resync_at = n = snapshot.n
        self.feeds.events.position.cursor = Cursor(EVENTS_ATTEMPT, n)
        for run in snapshot.runs:
            feed = self.feeds.get_or_create(run.run, now, cursors.get(run.run, START))
            if run.last_seq is not None and feed.cursor == (run.attempt, run.last_seq):
                self.feeds.stop(feed)

    # Healing

    async def _heal(self, feed: LogFeed) -> None:
        while feed.has_gap:
            feed.has_gap = False
            try:
                await self._catch_up(feed)
            except (RedisError, DatabaseError, OSError) as error:
                logger.warning("session %s: catching up is tried again: %s", self.session, error)
                feed.has_gap = True
                await asyncio.sleep(RETRY_S)
        feed.is_healing = False
        feed.checked_at = self._loop.time()

    async def _catch_up(self, feed: LogFeed) -> None:
        if feed is self.feeds.events:
            await self._read_events(feed)
        elif not feed.has_stopped:
            await self._read_log(feed)

    async def _read_events(self, feed: LogFeed) -> None:
        """Send the events after the cursor from the database; `resync` in place of those that are purged."""
        while rows := await in_thread(frames_after, self.session, feed.cursor.seq, HEAL_COUNT):
            if rows[0][0] > feed.cursor.seq + 1:
                await self._skip_events(feed, rows[0][0] - 1)
            for n, frame in rows:
                await self.outbox.wait_for_space()
                feed.position.cursor = Cursor(EVENTS_ATTEMPT, n)
                self.outbox.put(frame)
                self._track_runs(feed, frame)

    async def _skip_events(self, feed: LogFeed, n: int) -> None:
        """Tell the client to read the state again instead of the events up to n.
        Expect the live runs that they started.
        """
        await self.outbox.wait_for_space()
        feed.position.cursor = Cursor(EVENTS_ATTEMPT, n)
        self.outbox.put(p.encode(Resync(self.session, n)))
        for run in await in_thread(find_live, self.session):
            self._expect(run)

    async def _read_log(self, feed: LogFeed) -> None:
        log = run_log(self.session, feed.name)
        while True:
            cursor = feed.cursor
            log_slice = await read(log, None if cursor == START else cursor, HEAL_COUNT)
            decision = _decide_slice(cursor, log_slice)
            if decision.action is Action.GAP:
                await self._send_replacement(feed)
                return
            if decision.action is Action.DUPLICATE:
                await self._send_end_if_lost(feed)
                return
            if decision.action is not Action.FORWARD:
                feed.position.cursor = Cursor(log_slice.attempt, log_slice.lines[0][0] - 1)
                self._announce_reset(feed, decision)
            await self._forward(feed, log_slice)
            if len(log_slice.lines) < HEAL_COUNT:
                return

    async def _forward(self, feed: LogFeed, log_slice: LogSlice) -> None:
        for seq, line in log_slice.lines:
            await self.outbox.wait_for_space()
            feed.position.cursor = Cursor(log_slice.attempt, seq)
            self.outbox.put(line)
            self._track_runs(feed, line)

    async def _send_replacement(self, feed: LogFeed) -> None:
        """Send one snapshot in place of a lost log, if the database is ahead of the cursor."""
        replacement = await in_thread(load_replacement, feed.name)
        if replacement is not None and not self._is_shown(feed, replacement):
            await self._put_replacement(feed, replacement)

    async def _send_end_if_lost(self, feed: LogFeed) -> None:
        """Send the end of a run whose log has nothing newer than the cursor, although its `stop` was in it.

        A log that was lost and started again by a late producer never receives its `stop`. A log that is about to
        receive it (the end is committed first) is not replaced: the `stop` is published.
        """
        replacement = await in_thread(load_replacement, feed.name)
        if replacement is None or not replacement.was_announced or self._is_shown(feed, replacement):
            return
        # The `stop` may have been written since the log was read.
        newer = await read(run_log(self.session, feed.name), feed.cursor, 1)
        if newer.lines:
            feed.has_gap = True
        else:
            await self._put_replacement(feed, replacement)

    def _is_shown(self, feed: LogFeed, replacement: LogReplacement) -> bool:
        """Return whether the feed is as far as the database; that of an ended run, which a late event resumed, stops."""
        is_shown = Cursor(replacement.attempt, replacement.seq) <= feed.cursor
        if is_shown and replacement.was_announced:
            self.feeds.stop(feed)
        return is_shown

    async def _put_replacement(self, feed: LogFeed, replacement: LogReplacement) -> None:
        await self.outbox.wait_for_space()
        feed.position.cursor = Cursor(replacement.attempt, replacement.seq)
        for line in replacement.lines:
            self.outbox.put(line)
            self._track_runs(feed, line)

    # After a decision about packets

    def _announce_reset(self, feed: LogFeed, decision: Decision) -> None:
        if decision.action is Action.RESET:
            reset = p.Reset(run=feed.name, attempt=feed.cursor.attempt, reason="new_attempt")
            self.outbox.put(p.encode(reset))

    def _track_runs(self, feed: LogFeed, lines: bytes) -> None:
        """Register the runs that the forwarded lines start, and stop the feed of a run that they end."""
        if feed is self.feeds.events:
            for line in lines.split(b"\n"):
                for run in started_runs(line):
                    self._expect(run)
        elif ends_with_stop(lines):
            self.feeds.stop(feed)

    def _expect(self, run: str) -> None:
        feed = self.feeds.get_or_create(run, self._loop.time())
        if feed.has_stopped:
            self.feeds.resume(feed)
            self.heal(feed)  # its publications may have been ignored before


def _decide_slice(cursor: Cursor, log_slice: LogSlice) -> Decision:
    """Decide on a slice. GAP: the log is lost or begins after the cursor. DUPLICATE: it has nothing newer."""
    if log_slice.lines:
        return decide(cursor, Header(log_slice.attempt, log_slice.lines[0][0], log_slice.lines[-1][0]))
    exists = log_slice.attempt and log_slice.attempt >= cursor.attempt
    return Decision(Action.DUPLICATE if exists else Action.GAP)


def _check_cursor(cursor: Cursor, run: RunSnapshot) -> None:
    """Reject a cursor after the last packet that the run can have. Raises ApiError."""
    end = (run.attempt, run.last_seq) if run.last_seq is not None else (run.attempt, cursor.seq)
    if cursor > end:
        raise ApiError("invalid_cursor")
