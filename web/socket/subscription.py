"""One socket's subscription to one session: every packet after its cursors exactly once, in order, then live.

Publications are judged by their headers (joining.py). What is missing is read from the log or, where that is
gone, replaced by a snapshot; until that is done the feed takes no publication, so nothing is buffered twice.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError
from msgspec import json
from redis.exceptions import RedisError

from chat.events.session_events import frames_after
from chat.infrastructure.threads import in_thread
from chat.log.cursor import START, Action, Cursor, Decision, Header, Position, decide
from chat.log.stream import EVENTS_ATTEMPT, LogSlice, positions, read, run_log
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from web.socket.feed import Feed, Feeds
from web.socket.hub import Hub, Publication, ends_with_stop
from web.socket.outbox import Outbox
from web.socket.session_view import RunRow, SessionView, Substitute, substitute, view

HEAL_COUNT: Final = 64
RETRY_S: Final = 0.25
# The socket's next command waits behind this one: with Redis away a stop must not wait for long.
JOIN_S = 5.0

logger = logging.getLogger(__name__)


class Subscription:
    """open() once, then take() until close()."""

    def __init__(self, session: UUID, outbox: Outbox, hub: Hub) -> None:
        self.session = str(session)
        self.outbox = outbox
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self.feeds = Feeds(Feed("-", Position(), now, now, now))
        self._has_joined = False
        self._resync_at: int | None = None
        self._healing: set[asyncio.Task[None]] = set()

    async def open(self, user: Any, since: int | None, cursors: Mapping[UUID, Cursor]) -> dict[str, Any]:
        """Join; returns the reply, which the caller queues before it calls begin(). Raises ApiError, RedisError."""
        seen = await in_thread(view, user, UUID(self.session), list(cursors))
        return await self.join(seen, since, cursors)

    async def join(
        self, seen: SessionView, since: int | None, cursors: Mapping[UUID, Cursor]
    ) -> dict[str, Any]:
        """open() for a session that has been looked up."""
        by_run = {str(run): cursor for run, cursor in cursors.items()}
        for row in seen.runs:
            _check(by_run.get(row.run, START), row)
        await self._join_channel()
        held = await positions([run_log(self.session, row.run) for row in seen.runs])
        self._place(seen, since, by_run)
        runs = [_listed(row, at) for row, at in zip(seen.runs, held, strict=True)]
        return {"type": "subscribed", "session": self.session, "n": seen.n, "runs": runs}

    def begin(self) -> None:
        """Replay what the cursors lack, then go live."""
        self._has_joined = True
        if self._resync_at is not None:
            self.outbox.put(p.encode({"type": "resync", "session": self.session, "n": self._resync_at}))
        self.heal_everything()
        self._hub.watch.add(self)

    def close(self) -> None:
        self._hub.leave(self.session, self)
        self._hub.watch.remove(self)
        self._has_joined = False
        for task in self._healing:
            task.cancel()

    # For the hub

    def take(self, publication: Publication) -> None:
        if not self._has_joined:
            return
        now = self._loop.time()
        feeds = self.feeds
        feed = feeds.events if publication.name == "-" else feeds.of(publication.name, now)
        feed.heard_at = feed.spoke_at = now
        if feed.has_stopped:
            return
        if feed.is_healing:
            feed.missed = True
            return
        decision = feed.position.take(publication.header)
        if decision.action is Action.GAP:
            self.heal(feed)
        elif decision.action is not Action.DUPLICATE:
            if decision.action is not Action.FORWARD:
                self._announce(feed, decision)
            lines = publication.after(decision.skip) if decision.skip else publication.lines
            self.outbox.put(lines, publication.count - decision.skip)
            self._note(feed, lines)

    def heal_everything(self) -> None:
        if self._has_joined:
            self.heal(self.feeds.events)
            for feed in self.feeds.live.values():
                self.heal(feed)

    def heal(self, feed: Feed) -> None:
        """Catch up from the log; publications wait there meanwhile."""
        feed.missed = True
        if not feed.is_healing:
            feed.is_healing = True
            task = asyncio.create_task(self._heal(feed))
            self._healing.add(task)
            task.add_done_callback(self._healing.discard)

    # Joining

    async def _join_channel(self) -> None:
        try:
            async with asyncio.timeout(JOIN_S):
                await self._hub.join(self.session, self)
        except TimeoutError:
            raise ApiError("stream_unavailable") from None

    def _place(self, seen: SessionView, since: int | None, cursors: Mapping[str, Cursor]) -> None:
        now = self._loop.time()
        n = seen.n if since is None else since
        if n > seen.n:
            # A database that was restored has forgotten what this client saw.
            self._resync_at = n = seen.n
        self.feeds.events.position.cursor = Cursor(EVENTS_ATTEMPT, n)
        for row in seen.runs:
            feed = self.feeds.of(row.run, now, cursors.get(row.run, START))
            if row.last_seq is not None and feed.cursor == (row.attempt, row.last_seq):
                self.feeds.stop(feed)

    # Healing

    async def _heal(self, feed: Feed) -> None:
        while feed.missed:
            feed.missed = False
            try:
                await self._catch_up(feed)
            except (RedisError, DatabaseError, OSError) as error:
                logger.warning("session %s: catching up is tried again: %s", self.session, error)
                feed.missed = True
                await asyncio.sleep(RETRY_S)
        feed.is_healing = False
        feed.heard_at = self._loop.time()

    async def _catch_up(self, feed: Feed) -> None:
        if feed is self.feeds.events:
            await self._read_events(feed)
        elif not feed.has_stopped:
            await self._read_log(feed)

    async def _read_events(self, feed: Feed) -> None:
        """From the rows, which are never gone."""
        while rows := await in_thread(frames_after, self.session, feed.cursor.seq, HEAL_COUNT):
            for n, frame in rows:
                await self.outbox.room()
                feed.position.cursor = Cursor(EVENTS_ATTEMPT, n)
                self.outbox.put(frame)
                self._note(feed, frame)

    async def _read_log(self, feed: Feed) -> None:
        log = run_log(self.session, feed.name)
        while True:
            cursor = feed.cursor
            held = await read(log, None if cursor == START else cursor, HEAL_COUNT)
            decision = _decide_slice(cursor, held)
            if decision.action is Action.GAP:
                await self._replace(feed)
                return
            if decision.action is Action.DUPLICATE:
                await self._end_if_over(feed)
                return
            if decision.action is not Action.FORWARD:
                feed.position.cursor = Cursor(held.attempt, held.lines[0][0] - 1)
                self._announce(feed, decision)
            await self._forward(feed, held)
            if len(held.lines) < HEAL_COUNT:
                return

    async def _forward(self, feed: Feed, held: LogSlice) -> None:
        for seq, line in held.lines:
            await self.outbox.room()
            feed.position.cursor = Cursor(held.attempt, seq)
            self.outbox.put(line)
            self._note(feed, line)

    async def _replace(self, feed: Feed) -> None:
        """The log does not hold what is missing: one snapshot, if the database knows more than the socket."""
        found = await in_thread(substitute, feed.name)
        if found is not None and Cursor(found.attempt, found.seq) > feed.cursor:
            await self._put_substitute(feed, found)

    async def _end_if_over(self, feed: Feed) -> None:
        """The log has nothing newer, which is not to say that there is nothing: a log that was lost and begun
        again by a late producer never gets its `stop`."""
        found = await in_thread(substitute, feed.name)
        if found is not None and found.has_ended and Cursor(found.attempt, found.seq) > feed.cursor:
            await self._put_substitute(feed, found)

    async def _put_substitute(self, feed: Feed, found: Substitute) -> None:
        await self.outbox.room()
        feed.position.cursor = Cursor(found.attempt, found.seq)
        for line in found.lines:
            self.outbox.put(line)
            self._note(feed, line)

    # What is said about the packets

    def _announce(self, feed: Feed, decision: Decision) -> None:
        if decision.action is Action.RESET:
            reset = p.Reset(run=feed.name, attempt=feed.cursor.attempt, reason="new_attempt")
            self.outbox.put(p.encode(reset))

    def _note(self, feed: Feed, lines: bytes) -> None:
        """Learn from what has just been forwarded: which runs there are, and which have stopped."""
        if feed is self.feeds.events:
            for line in lines.split(b"\n"):
                for run in _runs_started(line):
                    self.feeds.of(run, self._loop.time())
        elif ends_with_stop(lines):
            self.feeds.stop(feed)


def _decide_slice(cursor: Cursor, held: LogSlice) -> Decision:
    """GAP: the log is gone or does not reach back to the cursor. DUPLICATE: there is nothing newer in it."""
    if held.lines:
        return decide(cursor, Header(held.attempt, held.lines[0][0], held.lines[-1][0]))
    is_there = held.attempt and held.attempt >= cursor.attempt
    return Decision(Action.DUPLICATE if is_there else Action.GAP)


def _check(cursor: Cursor, row: RunRow) -> None:
    """Refuse a cursor behind the end of what its run ever said."""
    behind_the_end = (row.attempt, row.last_seq) if row.last_seq is not None else (row.attempt, cursor.seq)
    if cursor > behind_the_end:
        raise ApiError("invalid_cursor")


def _listed(row: RunRow, at: Cursor | None) -> dict[str, Any]:
    attempt, seq = at or Cursor(row.attempt, row.last_seq or 0)
    return {
        "run": row.run,
        "turn": row.turn,
        "message": row.message,
        "model": row.model,
        "model_index": row.model_index,
        "status": row.status,
        "attempt": attempt,
        "seq": seq,
    }


def _runs_started(event: bytes) -> list[str]:
    if b'"type":"turn_started"' not in event:
        return []
    return [run["id"] for run in json.decode(event)["runs"]]
