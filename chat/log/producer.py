"""What one attempt of a run has emitted: merged while it waits, numbered once, kept until the run ends. No I/O.

The publisher (publisher.py) carries it to the packet log; the run's code only emits, settles and flushes.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from chat.log.stream import Appended, Log, append_arguments, run_log
from chat.protocol import wire as p

Text = p.MessageDelta | p.ReasoningDelta | p.ToolArgumentsDelta
# Six bytes is the most JSON makes of a character, so that a packet stays under protocol.MAX_PACKET_BYTES.
MAX_DELTA_CHARACTERS: Final = 10_000
# One append at most: what one subscriber's buffer takes several times over (consumers.py).
MAX_APPEND_PACKETS: Final = 64
MAX_APPEND_BYTES: Final = 256 * 1024

# What a reader waits for, or what tools and the end of a run wait for.
URGENT: Final = (
    p.Stop,
    p.Error,
    p.ToolStart,
    p.ToolArguments,
    p.ToolOutput,
    p.ApprovalRequired,
    p.TopLevelBranching,
    p.CitationInfo,
)


class StaleAttempt(Exception):
    """A newer attempt owns the log: end quietly, write nothing more."""


class FlushScheduler(Protocol):
    """What an producer needs of its publisher."""

    def schedule(self, producer: "PacketProducer", *, urgent: bool) -> None: ...

    def unschedule(self, producer: "PacketProducer") -> None: ...


class PacketProducer:
    """The emitting end of one attempt. All methods belong to the publisher's event loop."""

    def __init__(
        self, address: p.RunAddress, scheduler: FlushScheduler, on_stale: Callable[[], None]
    ) -> None:
        self.address = address
        self.log: Log = run_log(address.session, address.run)
        self.is_stale = False
        self._scheduler = scheduler
        self._on_stale = on_stale
        self._waiting: list[tuple[p.Placement, p.AnyObj]] = []
        # Texts that continue the last waiting delta, joined when it is numbered.
        self._more_text: list[str] = []
        self._characters = 0
        self._next_delta_opens_a_block = True
        self._lines: list[bytes] = []
        self._base = 1
        self._held_at: int | None = None
        self._sent = 0  # how many of _lines the log has confirmed
        self._flushes: list[tuple[int, asyncio.Future[None]]] = []

    # For the run

    def emit(self, placement: p.Placement, obj: p.AnyObj) -> None:
        """Never blocks. Consecutive text deltas of one placement that wait together become one packet."""
        if self.is_stale:
            return
        if isinstance(obj, Text):
            self._emit_text(placement, obj)
        else:
            self._close_text()
            self._waiting.append((placement, obj))
            self._next_delta_opens_a_block = True
            self._scheduler.schedule(self, urgent=isinstance(obj, URGENT))

    def open_with_snapshot(self, snapshot: p.Snapshot) -> None:
        """Start the attempt with a snapshot under seq 0 instead of from nothing. Before anything else.

        It goes out with the first packet, in one append: a reader who missed the publication of seq 0 alone would
        take seq 1 for a new beginning, and the snapshot's text would be lost on it.
        """
        if self._lines or self._waiting:
            raise ValueError("a snapshot opens an attempt or is not sent at all")
        self._base = 0
        self._lines.append(p.encode(snapshot))

    def settle(self) -> int:
        """Number what waits; the seq of the last packet so far (0: none)."""
        self._close_text()
        for placement, obj in self._waiting:
            self._lines.append(self._encoded(placement, obj))
        self._waiting.clear()
        return self._base + len(self._lines) - 1

    def hold(self) -> None:
        """What is emitted from now on is not for checkpoints until `release`: no row knows of it."""
        self._held_at = self.settle()

    def release(self) -> None:
        self._held_at = None

    def settle_for_checkpoint(self) -> int:
        """As settle(): the seq up to which the database may say that it knows everything."""
        seq = self.settle()
        return seq if self._held_at is None else self._held_at

    async def flush(self) -> None:
        """Return when everything emitted so far is in the log; waits while Redis is away. Raises StaleAttempt."""
        self.settle()
        if not self.is_stale and self._sent < len(self._lines):
            done = asyncio.get_running_loop().create_future()
            self._flushes.append((len(self._lines), done))
            self._scheduler.schedule(self, urgent=True)
            await done
        if self.is_stale:
            raise StaleAttempt(self.address.run)

    def discard(self) -> None:
        """Free the kept packets; what is not in the log by now never will be."""
        self._scheduler.unschedule(self)
        self._on_stale = _nobody_is_told
        self._release(len(self._lines))
        self._waiting.clear()
        self._lines.clear()
        self._sent = 0

    # For the publisher

    @property
    def has_more(self) -> bool:
        return not self.is_stale and (self._sent < len(self._lines) or bool(self._waiting))

    def next_append(self) -> list[object]:
        """KEYS and ARGV of the next append; empty if the log has everything."""
        if self._waiting:
            self.settle()
        lines = self._lines[self._sent : self._sent + MAX_APPEND_PACKETS]
        opens_with_snapshot = self._base == 0 and self._sent == 0
        least = 2 if opens_with_snapshot else 1
        if len(lines) < least:
            return []
        lines = lines[: max(least, _fitting(lines))]
        first = self._base + self._sent
        return append_arguments(self.log, self.address.attempt, first, lines, self._base)

    def confirm(self, reply: Appended) -> None:
        """Take the log's answer; a gap moves back to where the log ends."""
        if reply.outcome == "stale":
            self.is_stale = True
            self._waiting.clear()
            self._release(len(self._lines))
            self._on_stale()
        else:
            held = reply.last - self._base + 1
            # More than was sent can only be a log of other packets under our attempt: never go past our own.
            self._sent = max(0, min(held, len(self._lines)))
            self._release(self._sent)

    def _emit_text(self, placement: p.Placement, obj: Text) -> None:
        text = obj.text
        if self._continues(placement, obj):
            self._more_text.append(text)
            self._characters += len(text)
            return
        self._close_text()
        for start in range(0, len(text), MAX_DELTA_CHARACTERS):
            piece = text[start : start + MAX_DELTA_CHARACTERS]
            self._waiting.append((placement, obj if len(piece) == len(text) else _saying(obj, piece)))
            self._characters = len(piece)
        opens = self._next_delta_opens_a_block
        self._next_delta_opens_a_block = False
        self._scheduler.schedule(self, urgent=opens)

    def _continues(self, placement: p.Placement, obj: Text) -> bool:
        if not self._waiting or self._characters + len(obj.text) > MAX_DELTA_CHARACTERS:
            return False
        latest_placement, latest = self._waiting[-1]
        return type(latest) is type(obj) and (latest_placement is placement or latest_placement == placement)

    def _close_text(self) -> None:
        """Join the texts that continue the last waiting delta."""
        if self._more_text:
            placement, delta = self._waiting[-1]
            assert isinstance(delta, Text)  # noqa: S101  for the type checker: only texts are continued
            self._waiting[-1] = (placement, _saying(delta, delta.text + "".join(self._more_text)))
            self._more_text.clear()

    def _encoded(self, placement: p.Placement, obj: p.AnyObj) -> bytes:
        address = self.address
        seq = self._base + len(self._lines)
        return p.encode(p.Packet(address.session, address.run, address.attempt, seq, placement, obj))

    def _release(self, count: int) -> None:
        """Wake the flushes that wait for at most `count` lines."""
        if not self._flushes:
            return
        for wanted, done in self._flushes:
            if wanted <= count and not done.done():
                done.set_result(None)
        self._flushes = [(wanted, done) for wanted, done in self._flushes if not done.done()]


def _saying(delta: Text, text: str) -> Text:
    """The same delta with another text."""
    if isinstance(delta, p.ToolArgumentsDelta):
        return p.ToolArgumentsDelta(delta.tool_call_id, text)
    return type(delta)(text=text)


def _nobody_is_told() -> None:
    """An attempt that has been discarded does not care who owns the log."""


def _fitting(lines: list[bytes]) -> int:
    """How many of the lines fit one append; at least one."""
    total = 0
    for index, line in enumerate(lines):
        total += len(line)
        if total > MAX_APPEND_BYTES and index:
            return index
    return len(lines)
