"""Reads what a live run has shown so far, with the cursor up to which that is complete.

Prefers the packet log, which is up to two seconds ahead of the database; falls back to the database's checkpoint.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from redis.exceptions import RedisError

from chat.loaders.rounds import load_cited
from chat.log.cursor import Cursor
from chat.log.stream import LogSlice, read_now, run_log
from chat.models import ChatMessage, Run
from chat.models.tool_call import ToolCallStatus
from chat.presenters.json_values import JSONObject
from chat.presenters.messages import present_branch, present_messages
from chat.protocol import wire
from chat.transcript import packets
from chat.transcript.citations import citation_record

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """The progress of a run. shown: the result of all packets up to `cursor`; the packets after it complete it."""

    shown: packets.Shown
    cursor: Cursor


def present_live_messages(messages: Iterable[ChatMessage]) -> list[JSONObject]:
    """Present messages for clients; answers in progress with the text that their log holds."""
    return present_messages(messages, _live_members)


def present_live_branch(messages: Iterable[ChatMessage]) -> list[JSONObject]:
    """Present messages as present_live_messages does, each answer with those in the other columns of its turn."""
    return present_branch(messages, _live_members)


def present_live_message(message: ChatMessage) -> JSONObject:
    return present_live_messages([message])[0]


def _live_members(run: Run, calls: Sequence[JSONObject]) -> JSONObject:
    reached = read_progress(run, calls)
    shown, cursor = reached.shown, reached.cursor
    return {
        "text": shown.text,
        "cursor": {"attempt": cursor.attempt, "seq": cursor.seq},
        "citations": shown.citations,
        **({"reasoning": shown.reasoning} if shown.reasoning else {}),
        **({} if shown.reasoning_ms is None else {"reasoning_ms": shown.reasoning_ms}),
    }


def read_progress(run: Run, calls: Sequence[JSONObject]) -> Progress:
    """Read the progress of a live run, loaded with its message.

    calls: the run's tool calls as presented to clients. The caller must have read the run and its calls before: the log
    may be ahead of them, so the cursor stays before any later step of a call and before the end.
    """
    # Without a checkpoint of this attempt, text in the row belongs to an earlier one; the cursor then stays before
    # this attempt, which a snapshot (seq 0) may open. Every attempt at a continuation keeps the text.
    has_checkpoint = run.saved_seq > 0 or run.continuations > 0
    saved_at = Cursor(run.attempt, run.saved_seq) if has_checkpoint else Cursor(max(0, run.attempt - 1), 0)
    logged = _read_logged(run, calls)
    if logged and logged.cursor >= saved_at:
        return logged
    return Progress(_read_checkpoint(run) if has_checkpoint else packets.Shown(), saved_at)


def fold(entries: list[wire.LogEntry]) -> packets.Shown:
    """Fold all entries of one attempt into what they show. A snapshot replaces everything before it.

    Its reasoning belongs to the round of tools that follows, if there is one.
    """
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
        if not any(place.sub_turn_index is None and isinstance(obj, wire.ToolStart) for place, obj in placed):
            shown.reasoning = opened_by.message.get("reasoning", "") + shown.reasoning
        shown.citations = [*opened_by.message.get("citations", ()), *shown.citations]
    return shown


# The packets that report the steps of a tool call, in their order.
_STEPS: Final = (wire.ToolStart, wire.ApprovalRequired, wire.ToolOutput, wire.SectionEnd)
# The id of a call, and one of its steps.
_Step = tuple[str, type[wire.AnyPacketBody]]
# How many of these steps may have been reported of a call with this status; of an ended call all.
_REPORTED: Final[Mapping[str, int]] = {
    ToolCallStatus.PENDING: 1,
    ToolCallStatus.RUNNING: 1,
    ToolCallStatus.WAITING: 2,
}


def drop_unknown_steps(entries: list[wire.LogEntry], calls: Iterable[JSONObject]) -> list[wire.LogEntry]:
    """Return the entries of one attempt before the first step of a tool call that its row did not have yet.

    calls: as presented to clients, read from the database before the log.
    """
    known = Counter(_steps_of(calls))
    # Counted, since a model may give several calls the same id.
    logged: Counter[_Step] = Counter()
    for index, entry in enumerate(entries):
        if isinstance(entry, wire.Snapshot):
            logged = Counter(_steps_of(_not_shown_again(entry)))
        elif isinstance(entry.obj, _STEPS) and entry.obj.tool_call_id is not None:
            step = (entry.obj.tool_call_id, type(entry.obj))
            logged[step] += 1
            if logged[step] > known[step]:
                return entries[:index]
    return entries


def _not_shown_again(snapshot: wire.Snapshot) -> list[JSONObject]:
    """Return the calls of a snapshot, of one that opens an attempt without those of a round that the attempt resumes."""
    calls: list[JSONObject] = snapshot.message.get("tool_calls", [])
    resumed = {call["turn_number"] for call in calls if not (snapshot.seq or call["response"])}
    return [call for call in calls if call["turn_number"] not in resumed]


def _steps_of(calls: Iterable[JSONObject]) -> Iterator[_Step]:
    """Yield the steps that may have been reported of these calls and of those made inside them."""
    for call in calls:
        for step in _STEPS[: _REPORTED.get(call["status"])]:
            yield call["tool_call_id"], step
        yield from _steps_of(call.get("children", ()))


def drop_end(entries: list[wire.LogEntry]) -> list[wire.LogEntry]:
    """Return the entries of one attempt before its error and `stop`.

    A client told that a run is live always receives its end, even if it reads the log later.
    """
    end = len(entries)
    while end and isinstance(getattr(entries[end - 1], "obj", None), wire.Error | wire.Stop):
        end -= 1
    return entries[:end]


def _read_checkpoint(run: Run) -> packets.Shown:
    message = run.message
    cited = [citation_record(document) for document in load_cited(run)]
    return packets.Shown(message.text, message.reasoning, citations=cited)


def _read_logged(run: Run, calls: Sequence[JSONObject]) -> Progress | None:
    """Return the progress that the log holds; None if the log is incomplete, empty or unreachable."""
    try:
        held = read_now(run_log(run.message.session_id, run.pk))
    except RedisError as error:
        logger.warning("run %s: shown from the database: %s", run.pk, error)
        return None
    if not _is_whole(held):
        return None
    entries = drop_unknown_steps([wire.decode_log_entry(line) for _, line in held.lines], calls)
    entries = drop_end(entries)
    if not entries:
        return None
    return Progress(fold(entries), Cursor(held.attempt, entries[-1].seq))


def _is_whole(held: LogSlice) -> bool:
    return bool(held.lines) and held.lines[0][0] <= 1
