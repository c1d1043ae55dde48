"""The packet log: one Redis stream per run (and one per session for its events), appended by one script.

Fenced by attempt, idempotent by seq, and it answers a gap instead of leaving one. What a line says is the
business of whoever appends it; delivery to sockets is hub.py.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from redis.commands.core import Script
from redis.exceptions import NoScriptError

from chat.infrastructure.redis_client import async_redis, sync_redis
from chat.log.cursor import Cursor

__all__ = [
    "Appended",
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

# One hour after the last append, at most a minute less: longer than any turn, short enough that finished runs cost no memory.
TTL_S: Final = 3600
# The attempt of a session's event log, which never starts again.
EVENTS_ATTEMPT: Final = 1

Outcome = Literal["ok", "stale", "gap"]
_OUTCOMES: Final[tuple[Outcome, ...]] = ("ok", "stale", "gap")

# KEYS: meta, log. ARGV: attempt, first seq, base, TTL in seconds, channel, name, line...
# A log that is missing or of an older attempt holds base-1, so that a producer whose log was lost learns it.
# Numbers stay the texts they came as where they can: turning them back costs more than what is done with them. The time
# to live is looked at, which is cheap, and written again when a minute of it is gone. The first line of a batch carries
# the time.
APPEND: Final = """
local call, attempt = redis.call, ARGV[1]
local held = call('HMGET', KEYS[1], 'attempt', 'seq')
local first, last = ARGV[2] + 0, tonumber(held[2])
local fresh = held[1] ~= attempt
if fresh then
  if held[1] and attempt + 0 < held[1] + 0 then return {1, last} end
  last = ARGV[3] - 1
end
if first > last + 1 then return {2, last} end
local skip = last + 1 - first
local to = first + #ARGV - 7
if to <= last then return {0, last} end
if fresh then
  call('DEL', KEYS[2])
  call('HSET', KEYS[1], 'attempt', attempt)
end
local from, till = ARGV[2], ARGV[2]
if skip > 0 or to > first then
  from, till = string.format('%d', last + 1), string.format('%d', to)
end
local now = call('TIME')
call('XADD', KEYS[2], attempt .. '-' .. from, 'p', ARGV[7 + skip], 't', now[1] .. '.' .. now[2])
for seq = last + 2, to do
  call('XADD', KEYS[2], attempt .. '-' .. string.format('%d', seq), 'p', ARGV[7 + seq - first])
end
call('HSET', KEYS[1], 'seq', till)
if call('TTL', KEYS[2]) < ARGV[4] - 60 then
  call('EXPIRE', KEYS[1], ARGV[4])
  call('EXPIRE', KEYS[2], ARGV[4])
end
call('PUBLISH', ARGV[5], ARGV[6] .. ' ' .. attempt .. ' ' .. from .. ' ' .. till .. '\\n'
  .. table.concat(ARGV, '\\n', 7 + skip))
return {0, to}
"""


class Log(NamedTuple):
    """Where one log lives. name: the run's id, or "-" for the session's events; it opens every publication."""

    meta: str
    entries: str
    channel: str
    name: str


class Appended(NamedTuple):
    """last: the seq the log holds now (of the attempt that owns it, when stale)."""

    outcome: Outcome
    last: int


class TimedLine(NamedTuple):
    """at: microseconds since 1970, on Redis's clock; None: in one batch with the line before."""

    seq: int
    line: bytes
    at: int | None


class LogSlice(NamedTuple):
    """What a log holds after a cursor, oldest first. A log that is not there: attempt 0, last 0, no lines."""

    attempt: int
    last: int
    lines: list[tuple[int, bytes]]


def run_log(session: Any, run: Any) -> Log:
    prefix = f"turnwire:{{{session}}}:run:{run}"
    return Log(f"{prefix}:meta", f"{prefix}:log", session_channel(session), str(run))


def event_log(session: Any) -> Log:
    prefix = f"turnwire:{{{session}}}:events"
    return Log(f"{prefix}:meta", f"{prefix}:log", session_channel(session), "-")


def session_channel(session: Any) -> str:
    return f"turnwire:{{{session}}}:packets"


async def append(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int = 1) -> Appended:
    """Append lines numbered from `first`. base: seq of the attempt's first entry, 0 if a snapshot opens it.

    stale: a newer attempt owns the log, nothing was written. gap: nothing was written, send from last + 1.
    Lines the log has already are skipped, so a repeat is harmless.
    """
    # eval, not evalsha: only the publisher appends often, and it keeps its own script cache right.
    command = append_arguments(log, attempt, first, lines, base)
    return appended(await async_redis().eval(APPEND, 2, *command))


def append_now(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int = 1) -> Appended:
    """append() for threads."""
    meta, entries, *arguments = append_arguments(log, attempt, first, lines, base)
    return appended(_append_script()(keys=[meta, entries], args=arguments))


def append_event_now(session: Any, n: int, line: bytes, channel: str, told: bytes) -> Appended:
    """Append one event of a session to its log and publish `told` on another channel, in one round trip."""
    command = append_arguments(event_log(session), EVENTS_ATTEMPT, n, [line], n)
    # By its digest: a Script in a pipeline asks Redis first whether it is known.
    with sync_redis().pipeline(transaction=False) as pipe:
        pipe.evalsha(_append_script().sha, 2, *command)
        pipe.publish(channel, told)
        reply, _ = pipe.execute(raise_on_error=False)
    if isinstance(reply, NoScriptError):
        return append_now(event_log(session), EVENTS_ATTEMPT, n, [line], n)
    if isinstance(reply, Exception):
        raise reply
    return appended(reply)


@cache
def _append_script() -> Script:
    """Called by its digest; it loads itself where Redis does not know it."""
    return sync_redis().register_script(APPEND)


def append_arguments(log: Log, attempt: int, first: int, lines: Sequence[bytes], base: int) -> list[Any]:
    """KEYS and ARGV of the script."""
    return [log.meta, log.entries, attempt, first, base, TTL_S, log.channel, log.name, *lines]


def appended(reply: Any) -> Appended:
    return Appended(_OUTCOMES[reply[0]], reply[1])


async def read(log: Log, after: Cursor | None = None, count: int | None = None) -> LogSlice:
    """The lines after the cursor, from the beginning without one; at most `count`.

    A cursor of an older attempt gets the newer attempt from its beginning.
    """
    async with async_redis().pipeline(transaction=True) as pipe:
        _ask(pipe, log, after, count)
        return _slice(*await pipe.execute())


def read_now(log: Log, after: Cursor | None = None, count: int | None = None) -> LogSlice:
    """read() for threads."""
    with sync_redis().pipeline(transaction=True) as pipe:
        _ask(pipe, log, after, count)
        return _slice(*pipe.execute())


def read_timed_now(log: Log, count: int) -> tuple[int, list[TimedLine]]:
    """The attempt whose log is there (0: none), and at most `count` lines from its beginning. For threads."""
    entries = cast("list[Any]", sync_redis().xrange(log.entries, count=count))
    attempt = int(entries[0][0].partition(b"-")[0]) if entries else 0
    return attempt, [
        TimedLine(int(entry.rpartition(b"-")[2]), fields[b"p"], _microseconds(fields.get(b"t")))
        for entry, fields in entries
    ]


async def positions(logs: Sequence[Log]) -> list[Cursor | None]:
    """How far each log is, in one round trip; None for one that is not there."""
    async with async_redis().pipeline(transaction=False) as pipe:
        for log in logs:
            _ask_position(pipe, log)
        return [_position(reply) for reply in await pipe.execute()]


def positions_now(logs: Iterable[Log]) -> list[Cursor | None]:
    """positions() for threads."""
    with sync_redis().pipeline(transaction=False) as pipe:
        for log in logs:
            _ask_position(pipe, log)
        return [_position(reply) for reply in pipe.execute()]


def position_now(log: Log) -> Cursor | None:
    return positions_now([log])[0]


def forget(*logs: Log) -> None:
    """Delete logs. A producer that still appends to one learns it from the gap."""
    sync_redis().delete(*(key for log in logs for key in (log.meta, log.entries)))


def _ask_position(pipe: Any, log: Log) -> None:
    pipe.hmget(log.meta, "attempt", "seq")


def _position(meta: list[bytes | None]) -> Cursor | None:
    attempt, seq = meta
    return Cursor(int(attempt), int(seq)) if attempt and seq else None


def _ask(pipe: Any, log: Log, after: Cursor | None, count: int | None) -> None:
    _ask_position(pipe, log)
    pipe.xrange(log.entries, min=f"{after.attempt}-{after.seq + 1}" if after else "-", count=count)


def _slice(meta: list[bytes | None], entries: list[tuple[bytes, dict[bytes, bytes]]]) -> LogSlice:
    lines = [(int(entry.rpartition(b"-")[2]), fields[b"p"]) for entry, fields in entries]
    attempt, last = meta
    return LogSlice(int(attempt or 0), int(last or 0), lines)


def _microseconds(told: bytes | None) -> int | None:
    """told: whole seconds, and microseconds after the dot (not padded: no decimal fraction)."""
    if told is None:
        return None
    seconds, _, rest = told.partition(b".")
    return int(seconds) * 1_000_000 + int(rest)
