"""The packet log: one Redis stream per run, and one per session for its events, appended by one Lua script.

Appends are fenced by attempt and idempotent by seq; one that would leave a gap is refused with the seq the log holds.
Lines are opaque bytes. Delivery to websockets is web/socket/hub.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast
from uuid import UUID

from redis.asyncio.client import Pipeline as AsyncPipeline
from redis.client import Pipeline
from redis.commands.core import Script
from redis.exceptions import NoScriptError

from chat.infrastructure.redis_client import async_redis, sync_redis
from chat.log.cursor import Cursor

__all__ = [
    "Appended",
    "Argument",
    "Cursor",
    "Log",
    "LogSlice",
    "append",
    "append_now",
    "event_log",
    "read",
    "read_now",
    "read_timed_now",
    "run_log",
]

# Counted from the last append, and up to a minute less: longer than any pause of a turn.
TTL_S: Final = 3600
# Of the log of a run that waits for its user: long enough for readers that are behind.
QUIET_TTL_S: Final = 60
# Of the log of a run that has ended: long enough for a look at its timeline in the admin. A long answer's log has some
# hundred kilobytes.
ENDED_TTL_S: Final = 600
# The attempt of a session's event log, which has only one.
EVENTS_ATTEMPT: Final = 1

AnyPipeline = AsyncPipeline | Pipeline
# An argument of a Redis command.
Argument = str | int | bytes
Outcome = Literal["ok", "stale", "gap", "held"]
_OUTCOMES: Final[tuple[Outcome, ...]] = ("ok", "stale", "gap", "held")

# KEYS: meta, log. ARGV: attempt, first seq, base, TTL in seconds, channel, name, claim, line...
# A log that is missing or of an older attempt counts as holding base-1, so a producer whose log was lost gets a gap.
# Numbers stay strings where possible: converting them back costs more than the append. EXPIRE runs only after a minute
# of the time to live has passed, because reading it is cheaper. The first entry of a batch carries Redis's time.
APPEND: Final = """
local call, attempt = redis.call, ARGV[1]
local held = call('HMGET', KEYS[1], 'attempt', 'seq', 'claim')
local first, last = ARGV[2] + 0, tonumber(held[2])
local fresh = held[1] ~= attempt
if fresh then
  if held[1] and attempt + 0 < held[1] + 0 then return {1, held[1] + 0} end
  last = ARGV[3] - 1
elseif ARGV[7] ~= '' and held[3] and held[3] ~= '' and held[3] ~= ARGV[7] then
  return {1, attempt + 0}
end
if first > last + 1 then return {2, last} end
local skip = last + 1 - first
local to = first + #ARGV - 8
if to <= last then return {3, last} end
if fresh then
  call('DEL', KEYS[2])
  call('HSET', KEYS[1], 'attempt', attempt, 'claim', ARGV[7])
end
local from, till = ARGV[2], ARGV[2]
if skip > 0 or to > first then
  from, till = string.format('%d', last + 1), string.format('%d', to)
end
local now = call('TIME')
call('XADD', KEYS[2], attempt .. '-' .. from, 'p', ARGV[8 + skip], 't', now[1] .. '.' .. now[2])
for seq = last + 2, to do
  call('XADD', KEYS[2], attempt .. '-' .. string.format('%d', seq), 'p', ARGV[8 + seq - first])
end
call('HSET', KEYS[1], 'seq', till)
local left = call('TTL', KEYS[2])
if left < ARGV[4] - 60 or left > ARGV[4] + 0 then
  call('EXPIRE', KEYS[1], ARGV[4])
  call('EXPIRE', KEYS[2], ARGV[4])
end
call('PUBLISH', ARGV[5], ARGV[6] .. ' ' .. attempt .. ' ' .. from .. ' ' .. till .. '\\n'
  .. table.concat(ARGV, '\\n', 8 + skip))
return {0, to}
"""


class Log(NamedTuple):
    """Keys and channel of one log. name: the run's id, or "-" for session events; the first word of publications.

    ttl_s: how long the log lives after an append.  claim: what tells apart two writers that were given the same number
    of an attempt, by a database that had lost the first claim; empty: of no claim, and refused by no log.
    """

    meta: str
    entries: str
    channel: str
    name: str
    ttl_s: int = TTL_S
    claim: str = ""

    def as_ending(self) -> "Log":
        """Return the log of a run that has ended, for the append of its last packets."""
        return self._replace(ttl_s=ENDED_TTL_S)


class Appended(NamedTuple):
    """The result of an append. last: the last seq of the log; if stale, the attempt that owns the log."""

    outcome: Outcome
    last: int


class TimedLine(NamedTuple):
    """A line of a log. at: microseconds since 1970 on Redis's clock; None: in one batch with the line before."""

    seq: int
    line: bytes
    at: int | None


class LogSlice(NamedTuple):
    """The (seq, line) pairs of a log after a cursor, oldest first. A missing log: attempt 0, last 0, no lines."""

    attempt: int
    last: int
    lines: list[tuple[int, bytes]]


def run_log(session: UUID | str, run: UUID | str) -> Log:
    prefix = f"turnwire:{{{session}}}:run:{run}"
    return Log(f"{prefix}:meta", f"{prefix}:log", session_channel(session), str(run))


def event_log(session: UUID | str) -> Log:
    prefix = f"turnwire:{{{session}}}:events"
    return Log(f"{prefix}:meta", f"{prefix}:log", session_channel(session), "-")


def session_channel(session: UUID | str) -> str:
    return f"turnwire:{{{session}}}:packets"


async def append(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int = 1) -> Appended:
    """Append lines numbered from `first`. base: seq of the attempt's first entry, 0 if a snapshot opens it.

    Idempotent: lines that the log holds are skipped. Outcome held: it holds all of them. Outcome stale: a newer attempt,
    or another claim of this one, owns the log; nothing was written. Outcome gap: nothing was written, append again from
    last + 1.
    """
    # eval, not evalsha: only the publisher appends often, and it handles a missing script itself.
    command = append_arguments(log, attempt, first, lines, base)
    return appended(await async_redis().eval(APPEND, 2, *command))


def append_now(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int = 1) -> Appended:
    """Append lines as append() does, for threads."""
    _, _, *arguments = append_arguments(log, attempt, first, lines, base)
    return appended(_append_script()(keys=[log.meta, log.entries], args=arguments))


def append_event_now(session: UUID, n: int, line: bytes, channel: str, message: bytes) -> Appended:
    """Append one event of a session to its log and publish `message` on another channel, in one round trip."""
    command = append_arguments(event_log(session), EVENTS_ATTEMPT, n, [line], n)
    # By digest: redis-py's Script in a pipeline first asks Redis whether the script is loaded.
    with sync_redis().pipeline(transaction=False) as pipe:
        pipe.evalsha(_append_script().sha, 2, *command)
        pipe.publish(channel, message)
        reply, _ = pipe.execute(raise_on_error=False)
    if isinstance(reply, NoScriptError):
        return append_now(event_log(session), EVENTS_ATTEMPT, n, [line], n)
    if isinstance(reply, Exception):
        raise reply
    return appended(reply)


@cache
def _append_script() -> Script:
    """Return the script, which is called by digest and loads itself if Redis does not have it."""
    return sync_redis().register_script(APPEND)


def append_arguments(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int) -> list[Argument]:
    """Return KEYS and ARGV of the script."""
    return [log.meta, log.entries, attempt, first, base, log.ttl_s, log.channel, log.name, log.claim, *lines]


def appended(reply: Sequence[int]) -> Appended:
    """Parse the script's reply."""
    return Appended(_OUTCOMES[reply[0]], reply[1])


async def read(log: Log, after: Cursor | None = None, count: int | None = None) -> LogSlice:
    """Read at most `count` lines after the cursor, or from the beginning without one.

    With a cursor of an older attempt, read the newer attempt from its beginning.
    """
    async with async_redis().pipeline(transaction=True) as pipe:
        _queue_read(pipe, log, after, count)
        return _slice(*await pipe.execute())


def read_now(log: Log, after: Cursor | None = None, count: int | None = None) -> LogSlice:
    """Read lines as read() does, for threads."""
    with sync_redis().pipeline(transaction=True) as pipe:
        _queue_read(pipe, log, after, count)
        return _slice(*pipe.execute())


def read_timed_now(log: Log, count: int) -> tuple[int, list[TimedLine]]:
    """Read at most `count` lines from the beginning, and their attempt (0 if there is no log). For threads."""
    entries = cast("list[Any]", sync_redis().xrange(log.entries, count=count))
    attempt = int(entries[0][0].partition(b"-")[0]) if entries else 0
    return attempt, [
        TimedLine(int(entry.rpartition(b"-")[2]), fields[b"p"], _microseconds(fields.get(b"t")))
        for entry, fields in entries
    ]


async def positions(logs: Sequence[Log]) -> list[Cursor | None]:
    """Read the last entry's cursor of each log in one round trip; None for a missing log."""
    async with async_redis().pipeline(transaction=False) as pipe:
        _queue_positions(pipe, logs)
        return [_position(reply) for reply in await pipe.execute()]


def positions_now(logs: Iterable[Log]) -> list[Cursor | None]:
    """Read cursors as positions() does, for threads."""
    with sync_redis().pipeline(transaction=False) as pipe:
        _queue_positions(pipe, logs)
        return [_position(reply) for reply in pipe.execute()]


def position_now(log: Log) -> Cursor | None:
    return positions_now([log])[0]


async def expire_soon(*logs: Log) -> None:
    """Free the memory of logs that get nothing for long. Until the next append, readers get a snapshot of a run, and
    the events of a session from their rows."""
    async with async_redis().pipeline(transaction=False) as pipeline:
        for key in _keys(logs):
            pipeline.expire(key, QUIET_TTL_S, lt=True)
        await pipeline.execute()


def delete_logs(*logs: Log) -> None:
    """Delete logs. A producer that still appends to one gets a gap and sends everything again."""
    sync_redis().delete(*_keys(logs))


def _keys(logs: Iterable[Log]) -> Iterator[str]:
    for log in logs:
        yield from (log.meta, log.entries)


def _queue_positions(pipe: AnyPipeline, logs: Iterable[Log]) -> None:
    for log in logs:
        pipe.hmget(log.meta, "attempt", "seq")


def _position(meta: list[bytes | None]) -> Cursor | None:
    attempt, seq = meta
    return Cursor(int(attempt), int(seq)) if attempt and seq else None


def _queue_read(pipe: AnyPipeline, log: Log, after: Cursor | None, count: int | None) -> None:
    _queue_positions(pipe, [log])
    pipe.xrange(log.entries, min=f"{after.attempt}-{after.seq + 1}" if after else "-", count=count)


def _slice(meta: list[bytes | None], entries: list[tuple[bytes, dict[bytes, bytes]]]) -> LogSlice:
    lines = [(int(entry.rpartition(b"-")[2]), fields[b"p"]) for entry, fields in entries]
    attempt, last = meta
    return LogSlice(int(attempt or 0), int(last or 0), lines)


def _microseconds(time: bytes | None) -> int | None:
    """Parse a time: seconds, a dot, microseconds. The latter are not padded, so this is not a decimal fraction."""
    if time is None:
        return None
    seconds, _, microseconds = time.partition(b".")
    return int(seconds) * 1_000_000 + int(microseconds)
