"""Reads a run's packets for clients without a websocket: from the log, or rebuilt once the log has expired."""

from typing import Final, NamedTuple

from chat.log import rebuilt
from chat.log.stream import read_now, run_log
from chat.models import Run

# A cursor before the first entry. Such a reader also needs the snapshot (seq 0) that may open an attempt.
FROM_THE_BEGINNING: Final = 0


class RunPackets(NamedTuple):
    """Packets of one attempt. lines: encoded packets, oldest first. complete: no packets will follow them."""

    attempt: int
    complete: bool
    lines: list[bytes]


def packets_after(run: Run, seq: int) -> RunPackets:
    """Read the packets of the run's latest attempt after `seq`. run: from for_work(). Raises RedisError."""
    held = read_now(run_log(run.turn.session_id, run.pk))
    # A log that was completed after a loss begins with a snapshot near its end, not with the run's beginning.
    begins_late = seq == FROM_THE_BEGINNING and held.lines and held.lines[0][0] > 1
    if held.lines and held.attempt >= run.attempt and not (begins_late and run.last_seq):
        lines = [line for number, line in held.lines if number > seq or seq == FROM_THE_BEGINNING]
        return RunPackets(held.attempt, held.last == run.last_seq, lines)
    if run.is_live or run.last_seq is None:
        return RunPackets(run.attempt, False, [])
    return RunPackets(run.attempt, True, _rebuild(run, seq, run.last_seq))


def _rebuild(run: Run, seq: int, last_seq: int) -> list[bytes]:
    """Rebuild an ended run's packets for a reader at `seq`.

    Rebuilt packets have other numbers than the live ones, so a reader in the middle gets one snapshot instead.
    """
    if seq == FROM_THE_BEGINNING:
        return rebuilt.rebuild_packets(run)
    if seq >= last_seq:
        return []
    return rebuilt.build_ending(run)
