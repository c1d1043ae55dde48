"""The progress of one subscription in each of its logs (those of its runs and its session). No I/O."""

from dataclasses import dataclass, field

from chat.log.cursor import START, Cursor, Position


@dataclass(eq=False, slots=True)
class LogFeed:
    """The delivery state of one log in one subscription. Times are those of the event loop's clock."""

    name: str  # the run's id, or "-" for the session's events
    position: Position
    followed_since: float
    checked_at: float  # the latest publication or comparison with the log
    published_at: float  # the latest publication
    heartbeat_at: float = 0.0  # the latest heartbeat sent
    # While it is healing (being read from the log), publications are not forwarded; has_gap says that some arrived.
    is_healing: bool = False
    has_gap: bool = False
    has_stopped: bool = False
    queue_position: int | None = None  # as last sent to the client

    @property
    def cursor(self) -> Cursor:
        return self.position.cursor

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the log has been delivered yet."""
        return self.position.cursor == START


@dataclass(slots=True)
class SubscriptionFeeds:
    """All feeds of one subscription. live: the feeds of runs that have not stopped, by run."""

    events: LogFeed
    runs: dict[str, LogFeed] = field(default_factory=dict)
    live: dict[str, LogFeed] = field(default_factory=dict)

    def get_or_create(self, run: str, now: float, cursor: Cursor = START) -> LogFeed:
        """Return the run's feed; a new one starts at `cursor`."""
        feed = self.runs.get(run)
        if feed is None:
            feed = self.runs[run] = self.live[run] = LogFeed(run, Position(cursor), now, now, now)
        return feed

    def resume(self, feed: LogFeed) -> None:
        """Mark the run's log as live again: the run was continued after its end."""
        feed.has_stopped = False
        self.live[feed.name] = feed

    def stop(self, feed: LogFeed) -> None:
        """Mark the run's log as ended. The feed is kept to recognise repeated packets."""
        feed.has_stopped = True
        self.live.pop(feed.name, None)
