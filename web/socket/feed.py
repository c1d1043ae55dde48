"""How far one socket is in one log, and what the web process knows about that log. No I/O."""

from dataclasses import dataclass, field

from chat.log.cursor import START, Cursor, Position


@dataclass(eq=False, slots=True)
class Feed:
    """One run of one subscription, or its session's events. Times are those of the event loop's clock."""

    name: str  # the run's id, or "-" for the session's events
    position: Position
    since: float  # when this socket began to follow it
    heard_at: float  # the last publication or comparison with the log
    spoke_at: float  # the last publication
    beat_at: float = 0.0  # the last heartbeat sent
    # While it is read from the log, publications are not taken; `missed` says there were some.
    is_healing: bool = False
    missed: bool = False
    has_stopped: bool = False
    queue_position: int | None = None  # as last told

    @property
    def cursor(self) -> Cursor:
        return self.position.cursor

    @property
    def is_untouched(self) -> bool:
        """Nothing has been shown of it yet."""
        return self.position.cursor == START


@dataclass(slots=True)
class Feeds:
    """All feeds of one subscription; `live` are those that may still get something."""

    events: Feed
    runs: dict[str, Feed] = field(default_factory=dict)
    live: dict[str, Feed] = field(default_factory=dict)

    def of(self, run: str, now: float, cursor: Cursor = START) -> Feed:
        """The run's feed; a new one stands at `cursor`."""
        feed = self.runs.get(run)
        if feed is None:
            feed = self.runs[run] = self.live[run] = Feed(run, Position(cursor), now, now, now)
        return feed

    def stop(self, feed: Feed) -> None:
        """After `stop` nothing comes. The feed is kept: a repeat must still be known as one."""
        feed.has_stopped = True
        self.live.pop(feed.name, None)
