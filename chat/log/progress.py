"""What a run that is still being answered has shown so far, and the point up to which that is complete.

The log is ahead of the database by up to two seconds; without a log the database's text has a cursor too.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from redis.exceptions import RedisError

from chat.loaders.rounds import cited_in, load_rounds
from chat.log.cursor import Cursor
from chat.log.stream import LogSlice, read_now, run_log
from chat.models import ChatMessage, Run
from chat.presenters.json_values import JSONObject
from chat.presenters.messages import present_messages
from chat.protocol import wire
from chat.transcript import packets
from chat.transcript.citation_links import citation_record

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What this shows, joined with the packets after `cursor`, is what reading from the beginning gives."""

    shown: packets.Shown
    cursor: Cursor


def present_live_messages(messages: Iterable[ChatMessage]) -> list[JSONObject]:
    """Messages as clients see them; of an answer in progress, the text that its log holds."""
    return present_messages(messages, _live_members)


def present_live_message(message: ChatMessage) -> JSONObject:
    return present_live_messages([message])[0]


def _live_members(run: Run, calls: int) -> JSONObject:
    reached = read_progress(run, calls)
    shown, cursor = reached.shown, reached.cursor
    return {
        "text": shown.text,
        "cursor": {"attempt": cursor.attempt, "seq": cursor.seq},
        "citations": shown.citations,
        **({"reasoning": shown.reasoning} if shown.reasoning else {}),
        **({} if shown.reasoning_ms is None else {"reasoning_ms": shown.reasoning_ms}),
    }


def read_progress(run: Run, calls: int) -> Progress:
    """Of a live run, loaded with its message. calls: how many of its own the reader knows of from the database.

    They and the run must have been read before: the log may be ahead of them, and the cursor stays before what it shows
    of other calls, and before what ends the run.
    """
    saved_at = _saved_at(run)
    logged = _logged(run, calls)
    return logged if logged and logged.cursor >= saved_at else Progress(_saved(run), saved_at)


def fold(entries: list[wire.LogEntry]) -> packets.Shown:
    """Everything shown by the entries of one attempt, from its first: a snapshot replaces what came before."""
    opened_by: wire.Snapshot | None = None
    placed: list[packets.Placed] = []
    for entry in entries:
        if isinstance(entry, wire.Snapshot):
            opened_by, placed = entry, []
        else:
            placed.append((entry.placement, entry.obj))
    shown = packets.fold(placed)
    if opened_by:
        shown.text = opened_by.message.get("text", "") + shown.text
        shown.reasoning = opened_by.message.get("reasoning", "") + shown.reasoning
        shown.citations = [*opened_by.message.get("citations", ()), *shown.citations]
    return shown


def drop_unknown_calls(entries: list[wire.LogEntry], calls: int) -> list[wire.LogEntry]:
    """The entries of one attempt before it shows a call that is not among the first so many."""
    shown = 0
    for at, entry in enumerate(entries):
        match entry:
            case wire.Snapshot(message=message):
                shown = len(message.get("tool_calls", ()))
            case wire.Packet(obj=wire.ToolStart(), placement=placement):
                shown += placement.sub_turn_index is None
        if shown > calls:
            return entries[:at]
    return entries


def drop_end(entries: list[wire.LogEntry]) -> list[wire.LogEntry]:
    """The entries of one attempt before its error and `stop`.

    Whoever has read of a live run that it is live must hear these two: no reading would tell of them again.
    """
    end = len(entries)
    while end and isinstance(getattr(entries[end - 1], "obj", None), wire.Error | wire.Stop):
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
    cited = [citation_record(document) for document in cited_in(message.text, load_rounds(run.pk))]
    return packets.Shown(message.text, message.reasoning, citations=cited)


def _logged(run: Run, calls: int) -> Progress | None:
    try:
        held = read_now(run_log(run.message.session_id, run.pk))
    except RedisError as error:
        logger.warning("run %s: shown from the database: %s", run.pk, error)
        return None
    if not _is_whole(held):
        return None
    entries = drop_unknown_calls([wire.decode_log_entry(line) for _, line in held.lines], calls)
    entries = drop_end(entries)
    if not entries:
        return None
    return Progress(fold(entries), Cursor(held.attempt, entries[-1].seq))


def _is_whole(held: LogSlice) -> bool:
    return bool(held.lines) and held.lines[0][0] <= 1
