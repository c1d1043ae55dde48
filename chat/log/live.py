"""What a run that is still being answered has shown so far, and the point up to which that is complete.

The log is ahead of the database by up to two seconds; without a log the database's text has a cursor too.
"""

import logging
from dataclasses import dataclass

from redis.exceptions import RedisError

from chat import packets, protocol
from chat.log.joining import Cursor
from chat.models import Run
from chat.rounds import cited_in, rounds_of
from chat.stream import LogSlice, read_now, run_log

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What this shows, joined with the packets after `cursor`, is what reading from the beginning gives."""

    shown: packets.Shown
    cursor: Cursor


def progress(run: Run, calls: int) -> Progress:
    """Of a live run, loaded with its message. calls: how many of its own the reader knows of from the database.

    They and the run must have been read before: the log may be ahead of them, and the cursor stays before what it shows
    of other calls, and before what ends the run.
    """
    saved_at = _saved_at(run)
    logged = _logged(run, calls)
    return logged if logged and logged.cursor >= saved_at else Progress(_saved(run), saved_at)


def fold(entries: list[protocol.LogEntry]) -> packets.Shown:
    """Everything shown by the entries of one attempt, from its first: a snapshot replaces what came before."""
    opened_by: protocol.Snapshot | None = None
    placed: list[packets.Placed] = []
    for entry in entries:
        if isinstance(entry, protocol.Snapshot):
            opened_by, placed = entry, []
        else:
            placed.append((entry.placement, entry.obj))
    shown = packets.fold(placed)
    if opened_by:
        shown.text = opened_by.message.get("text", "") + shown.text
        shown.reasoning = opened_by.message.get("reasoning", "") + shown.reasoning
        shown.citations = [*opened_by.message.get("citations", ()), *shown.citations]
    return shown


def up_to_calls(entries: list[protocol.LogEntry], calls: int) -> list[protocol.LogEntry]:
    """The entries of one attempt before it shows a call that is not among the first so many."""
    shown = 0
    for at, entry in enumerate(entries):
        match entry:
            case protocol.Snapshot(message=message):
                shown = len(message.get("tool_calls", ()))
            case protocol.Packet(obj=protocol.ToolStart(), placement=placement):
                shown += placement.sub_turn_index is None
        if shown > calls:
            return entries[:at]
    return entries


def before_end(entries: list[protocol.LogEntry]) -> list[protocol.LogEntry]:
    """The entries of one attempt before its error and `stop`.

    Whoever has read of a live run that it is live must hear these two: no reading would tell of them again.
    """
    end = len(entries)
    while end and isinstance(getattr(entries[end - 1], "obj", None), protocol.Error | protocol.Stop):
        end -= 1
    return entries[:end]


def _saved_at(run: Run) -> Cursor:
    if run.saved_seq == 0:
        # The text in the row, if any, is of an earlier attempt; and so is the cursor: this attempt may be opened by a
        # snapshot (seq 0), which a reader must not skip.
        return Cursor(max(0, run.attempt - 1), 0)
    return Cursor(run.attempt, run.saved_seq)


def _saved(run: Run) -> packets.Shown:
    if run.saved_seq == 0:
        return packets.Shown()
    message = run.message
    cited = [packets.citation(document) for document in cited_in(message.text, rounds_of(run.pk))]
    return packets.Shown(message.text, message.reasoning, citations=cited)


def _logged(run: Run, calls: int) -> Progress | None:
    try:
        held = read_now(run_log(run.message.session_id, run.pk))
    except RedisError as error:
        logger.warning("run %s: shown from the database: %s", run.pk, error)
        return None
    if not _is_whole(held):
        return None
    entries = up_to_calls([protocol.decode_log_entry(line) for _, line in held.lines], calls)
    entries = before_end(entries)
    if not entries:
        return None
    return Progress(fold(entries), Cursor(held.attempt, entries[-1].seq))


def _is_whole(held: LogSlice) -> bool:
    return bool(held.lines) and held.lines[0][0] <= 1
