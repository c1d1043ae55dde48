"""Numbers and encodes the packets of one attempt of a run, and keeps them until the run ends. Does no I/O.

Consecutive text deltas that wait together are merged into one packet. The publisher (publisher.py) appends the
packets to the log; after a gap (Redis has lost its tail) it resends the kept ones.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Final, Protocol

from chat.log.stream import Appended, Argument, Log, append_arguments, run_log
from chat.protocol import wire as p

Text = p.MessageDelta | p.ReasoningDelta | p.ToolArgumentsDelta
# JSON encodes a character in at most six bytes, so such a packet stays under MAX_PACKET_BYTES.
MAX_DELTA_CHARACTERS: Final = 10_000
# Limits of one append: a subscriber's buffer holds several of them.
MAX_APPEND_PACKETS: Final = 64
MAX_APPEND_BYTES: Final = 256 * 1024

# Sent without waiting for a flush window: a reader, a tool or the end of the run waits for them.
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
    """Another attempt owns the log: stop without writing anything more.

    owner: its number; this attempt's own if the database has given the number twice.
    """

    def __init__(self, owner: int) -> None:
        super().__init__(owner)
        self.owner = owner


class FlushScheduler(Protocol):
    """The part of the publisher that a producer uses."""

    def schedule(self, producer: "PacketProducer", *, urgent: bool) -> None: ...

    def unschedule(self, producer: "PacketProducer") -> None: ...


class PacketProducer:
    """Collects the packets of one attempt. Not thread-safe: all methods run on the publisher's event loop."""

    def __init__(
        self, address: p.RunAddress, scheduler: FlushScheduler, on_stale: Callable[[], None]
    ) -> None:
        self.address = address
        self.log: Log = run_log(address.session, address.run)._replace(claim=secrets.token_hex(4))
        # The attempt that owns the log, if it is not this one.
        self.stale_for: int | None = None
        self._scheduler = scheduler
        self._on_stale = on_stale
        self._waiting: list[tuple[p.Placement, p.AnyPacketBody]] = []
        # Continuations of the last waiting delta; joined when it is numbered.
        self._more_text: list[str] = []
        self._characters = 0
        self._next_delta_opens_a_block = True
        self._lines: list[bytes] = []
        self._base = 1
        self._held_at: int | None = None
        self._sent = 0  # how many of _lines the log holds
        self._flushes: list[tuple[int, asyncio.Future[None]]] = []

    # Called by the run

    def emit(self, placement: p.Placement, obj: p.AnyPacketBody) -> None:
        """Add a packet. Never blocks; consecutive text deltas of one placement that wait together become one packet."""
        if self.stale_for is not None:
            return
        if isinstance(obj, Text):
            self._emit_text(placement, obj)
        else:
            self._join_text()
            self._waiting.append((placement, obj))
            self._next_delta_opens_a_block = True
            self._scheduler.schedule(self, urgent=isinstance(obj, URGENT))

    def open_with_snapshot(self, snapshot: p.Snapshot) -> None:
        """Open the attempt with a snapshot under seq 0. Must precede every packet.

        It is appended together with the first packet: a reader that missed a publication of seq 0 alone would take
        seq 1 for the start of the attempt and lose the snapshot's text.
        """
        if self._lines or self._waiting:
            raise ValueError("a snapshot must precede every packet of its attempt")
        self._base = 0
        self._lines.append(p.encode(snapshot))

    def replace_shown(self, message: dict[str, Any]) -> None:
        """Add a snapshot: the message replaces what readers were shown, and later packets continue it."""
        seq = self.settle() + 1
        self._lines.append(p.encode(p.Snapshot(self.address.run, self.address.attempt, seq, message)))
        self._next_delta_opens_a_block = True
        self._scheduler.schedule(self, urgent=True)

    def settle(self) -> int:
        """Give the waiting packets numbers and encode them; return the seq of the last packet, 0 if there is none."""
        self._join_text()
        for placement, obj in self._waiting:
            self._lines.append(self._encode(placement, obj))
        self._waiting.clear()
        return self._base + len(self._lines) - 1

    def hold(self) -> None:
        """Keep later packets out of checkpoints until `release`: they show a tool call that is not stored yet."""
        self._held_at = self.settle()

    def release(self) -> None:
        self._held_at = None

    def settle_for_checkpoint(self) -> int:
        """Give the waiting packets numbers; return the seq up to which a checkpoint will complete the database."""
        seq = self.settle()
        return seq if self._held_at is None else self._held_at

    async def flush(self) -> None:
        """Wait until the log holds everything emitted so far, also while Redis is unreachable. Raises StaleAttempt."""
        self.settle()
        if self.stale_for is None and self._sent < len(self._lines):
            done = asyncio.get_running_loop().create_future()
            self._flushes.append((len(self._lines), done))
            self._scheduler.schedule(self, urgent=True)
            await done
        if self.stale_for is not None:
            raise StaleAttempt(self.stale_for)

    def discard(self) -> None:
        """Drop the kept packets: packets that the log does not hold are never sent."""
        self._scheduler.unschedule(self)
        self._on_stale = _ignore_stale
        self._wake_flushes(len(self._lines))
        self._waiting.clear()
        self._lines.clear()
        self._sent = 0

    # Called by the publisher

    @property
    def has_more(self) -> bool:
        return self.stale_for is None and (self._sent < len(self._lines) or bool(self._waiting))

    def next_append(self) -> list[Argument]:
        """Return KEYS and ARGV of the next append; empty if the log holds everything."""
        if self._waiting:
            self.settle()
        lines = self._lines[self._sent : self._sent + MAX_APPEND_PACKETS]
        opens_with_snapshot = self._base == 0 and self._sent == 0
        fewest = 2 if opens_with_snapshot else 1
        if len(lines) < fewest:
            return []
        lines = lines[: max(fewest, _count_fitting(lines))]
        first = self._base + self._sent
        return append_arguments(self.log, self.address.attempt, first, lines, self._base)

    def confirm(self, reply: Appended) -> None:
        """Process the log's reply to an append. After a gap the next append starts where the log ends."""
        if reply.outcome == "stale":
            self.stale_for = reply.last
            self._waiting.clear()
            self._wake_flushes(len(self._lines))
            self._on_stale()
        else:
            held = reply.last - self._base + 1
            # A log that holds more than was sent contains foreign packets of this attempt: stay within the own ones.
            self._sent = max(0, min(held, len(self._lines)))
            self._wake_flushes(self._sent)

    def _emit_text(self, placement: p.Placement, obj: Text) -> None:
        text = obj.text
        if self._continues(placement, obj):
            self._more_text.append(text)
            self._characters += len(text)
            return
        self._join_text()
        for start in range(0, len(text), MAX_DELTA_CHARACTERS):
            piece = text[start : start + MAX_DELTA_CHARACTERS]
            self._waiting.append((placement, obj if len(piece) == len(text) else _with_text(obj, piece)))
            self._characters = len(piece)
        opens = self._next_delta_opens_a_block
        self._next_delta_opens_a_block = False
        self._scheduler.schedule(self, urgent=opens)

    def _continues(self, placement: p.Placement, obj: Text) -> bool:
        if not self._waiting or self._characters + len(obj.text) > MAX_DELTA_CHARACTERS:
            return False
        latest_placement, latest = self._waiting[-1]
        return type(latest) is type(obj) and (latest_placement is placement or latest_placement == placement)

    def _join_text(self) -> None:
        """Join the continuations into the last waiting delta."""
        if self._more_text:
            placement, delta = self._waiting[-1]
            assert isinstance(delta, Text)  # noqa: S101  for the type checker: only texts are continued
            self._waiting[-1] = (placement, _with_text(delta, delta.text + "".join(self._more_text)))
            self._more_text.clear()

    def _encode(self, placement: p.Placement, obj: p.AnyPacketBody) -> bytes:
        address = self.address
        seq = self._base + len(self._lines)
        return p.encode(p.Packet(address.session, address.run, address.attempt, seq, placement, obj))

    def _wake_flushes(self, count: int) -> None:
        """Complete the flushes that wait for at most `count` lines."""
        if not self._flushes:
            return
        for wanted, done in self._flushes:
            if wanted <= count and not done.done():
                done.set_result(None)
        self._flushes = [(wanted, done) for wanted, done in self._flushes if not done.done()]


def _with_text(delta: Text, text: str) -> Text:
    """Copy the delta with another text."""
    if isinstance(delta, p.ToolArgumentsDelta):
        return p.ToolArgumentsDelta(delta.tool_call_id, text)
    return type(delta)(text=text)


def _ignore_stale() -> None:
    """Do nothing: replaces on_stale after `discard`, when the attempt is over."""


def _count_fitting(lines: list[bytes]) -> int:
    """Return how many of the lines fit into one append; at least one."""
    total = 0
    for index, line in enumerate(lines):
        total += len(line)
        if total > MAX_APPEND_BYTES and index:
            return index
    return len(lines)
