"""Reads a run's packets for clients without a websocket: from its log, or rebuilt from the database after the log has
expired or was lost.

A reader from the beginning gets all packets, built by the same functions as the live ones; every block is one
delta, so the numbers differ from the live ones. A reader in the middle gets a snapshot and `stop`.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from chat.loaders.rounds import load_citations, load_rounds
from chat.log.progress import present_live_message
from chat.log.stream import read_now, run_log
from chat.models import ChatMessage, Run
from chat.presenters.json_values import JSONObject
from chat.protocol import wire as p
from chat.protocol.states import STOP_REASONS, Status
from chat.transcript.packets import Blocks, Placed
from chat.transcript.rebuild import Ended, rebuild, show_rounds


def rebuild_packets(run: Run) -> list[bytes]:
    """Return the encoded packets of an ended run, from seq 1 to `stop`."""
    message = run.message
    error = p.Error(run.error_code, run.error_message, run.error_retryable) if run.error_code else None
    ended = Ended(
        model=run.model,
        model_index=run.model_index,
        reasoning=message.reasoning,
        text=message.text,
        stop_reason=STOP_REASONS[Status(run.status)],
        error=error,
        rounds=load_rounds(run.pk),
        citations=load_citations(message.pk),
        reasoning_ms=run.reasoning_ms,
        finish=run.visible_finish,
    )
    return _encode(run, rebuild(ended))


def rebuild_rounds(run: Run, count: int) -> list[bytes]:
    """Return the encoded packets of the first rounds of a run, which may go on or wait behind them."""
    blocks = Blocks(model_index=run.model_index)
    cited = {document.number: document for document in load_citations(run.message_id)}
    rounds = show_rounds(blocks, load_rounds(run.pk)[:count], cited)
    return _encode(run, [*blocks.run_start(run.model), *rounds])


def _encode(run: Run, placed: Iterable[Placed]) -> list[bytes]:
    session = str(run.message.session_id)
    return [
        p.encode(p.Packet(session, str(run.pk), run.attempt, seq, placement, obj))
        for seq, (placement, obj) in enumerate(placed, start=1)
    ]


def present_stored(run: Run) -> JSONObject:
    """Present the stored message of a run as clients see it."""
    message = ChatMessage.objects.select_related("run", "feedback").get(pk=run.message_id)
    return present_live_message(message)


def build_ending(run: Run) -> list[bytes]:
    """Return the last two entries of an ended run's log: a snapshot at last_seq - 1 and `stop` at last_seq.

    The snapshot contains everything before it, the error included, so any reader may get these two.
    """
    session, name, last_seq = str(run.turn.session_id), str(run.pk), run.last_seq or 1
    snapshot = p.Snapshot(name, run.attempt, last_seq - 1, present_stored(run))
    stop = Blocks(model_index=run.model_index).stop(STOP_REASONS[Status(run.status)], run.visible_finish)
    packets = [p.Packet(session, name, run.attempt, last_seq, placement, obj) for placement, obj in stop]
    return [p.encode(entry) for entry in (snapshot, *packets)]


# A cursor before the first entry. Such a reader also needs the snapshot (seq 0) that may open an attempt.
FROM_THE_BEGINNING: Final = 0


class RunPackets(NamedTuple):
    """Packets of one attempt. lines: encoded packets, oldest first. complete: no packets will follow them."""

    attempt: int
    complete: bool
    lines: list[bytes]


def packets_after(run: Run, seq: int) -> RunPackets:
    """Read the packets of the run's latest attempt after `seq`. run: from for_work(). Raises RedisError."""
    log = read_now(run_log(run.turn.session_id, run.pk))
    # A log that was completed after a loss begins with a snapshot near its end, not with the run's beginning.
    begins_late = seq == FROM_THE_BEGINNING and log.lines and log.lines[0][0] > 1
    if log.lines and log.attempt >= run.attempt and not (begins_late and run.last_seq):
        lines = [line for number, line in log.lines if number > seq or seq == FROM_THE_BEGINNING]
        return RunPackets(log.attempt, log.last == run.last_seq, lines)
    if run.is_live or run.last_seq is None:
        return RunPackets(run.attempt, False, [])
    return RunPackets(run.attempt, True, _rebuild(run, seq, run.last_seq))


def _rebuild(run: Run, seq: int, last_seq: int) -> list[bytes]:
    """Rebuild an ended run's packets for a reader at `seq`.

    Rebuilt packets have other numbers than the live ones, so a reader in the middle gets one snapshot instead.
    """
    if seq == FROM_THE_BEGINNING:
        return rebuild_packets(run)
    if seq >= last_seq:
        return []
    return build_ending(run)
