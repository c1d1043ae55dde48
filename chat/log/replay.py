"""The packets of an ended run, made again from the database once its log has expired.

By the same builders as the live stream, merged into whole blocks and therefore numbered anew from 1.
"""

from typing import Final

from chat import protocol as p
from chat.models import Run
from chat.packets import Ended, rebuild
from chat.states import Status

_STOP_REASONS: Final[dict[str, p.StopReason]] = {
    Status.COMPLETED: "finished",
    Status.STOPPED: "user_cancelled",
    Status.FAILED: "error",
}


def packets_of(run: Run) -> list[bytes]:
    """Encoded packets from seq 1 to `stop`. The run has ended."""
    message = run.message
    error = p.Error(run.error_code, run.error_message, run.error_retryable) if run.error_code else None
    ended = Ended(
        model=run.model,
        model_index=run.model_index,
        reasoning=message.reasoning,
        text=message.text,
        stop_reason=_STOP_REASONS[run.status],
        error=error,
    )
    session = str(message.session_id)
    return [
        p.encode(p.Packet(session, str(run.pk), run.attempt, seq, placement, obj))
        for seq, (placement, obj) in enumerate(rebuild(ended), start=1)
    ]
