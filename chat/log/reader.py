"""A run's packets for a reader who is not subscribed: from the log, or rebuilt when the log has expired."""

from typing import Final, NamedTuple

from chat.log import rebuilt
from chat.log.stream import read_now, run_log
from chat.models import Run

# A snapshot that opens an attempt has seq 0; whoever asks from the beginning needs it.
FROM_THE_BEGINNING: Final = 0


class RunPackets(NamedTuple):
    """lines: encoded packets, oldest first. complete: nothing will follow them."""

    attempt: int
    complete: bool
    lines: list[bytes]


def packets_after(run: Run, seq: int) -> RunPackets:
    """run: from for_work(). The packets of its latest attempt after `seq`. Raises RedisError."""
    held = read_now(run_log(run.turn.session_id, run.pk))
    # A log that was completed after a loss begins with a snapshot near its end: no beginning for anybody.
    begins_late = seq == FROM_THE_BEGINNING and held.lines and held.lines[0][0] > 1
    if held.lines and held.attempt >= run.attempt and not (begins_late and run.last_seq):
        lines = [line for number, line in held.lines if number > seq or seq == FROM_THE_BEGINNING]
        return RunPackets(held.attempt, held.last == run.last_seq, lines)
    if run.is_live or run.last_seq is None:
        return RunPackets(run.attempt, False, [])
    return RunPackets(run.attempt, True, _rebuilt(run, seq, run.last_seq))


def _rebuilt(run: Run, seq: int, last_seq: int) -> list[bytes]:
    """Rebuilt packets are whole blocks, numbered anew: somebody who holds some of the live ones cannot go on
    with them, and gets one snapshot instead."""
    if seq == FROM_THE_BEGINNING:
        return rebuilt.rebuild_packets(run)
    if seq >= last_seq:
        return []
    return rebuilt.build_ending(run)
