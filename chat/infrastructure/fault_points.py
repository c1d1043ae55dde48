"""Points at which a test can kill or freeze a real process: before and after each step visible to other processes.

Off unless FAULT_POINTS names a place: `after_claim=kill` or `before_append=stop`, comma-separated. `kill` is kill -9
of this process, `stop` is SIGSTOP (a frozen host); the test continues it from outside.
"""

import signal
import threading
from typing import Final, Literal

from django.conf import settings

Point = Literal[
    "after_claim",  # the run is claimed, nothing is sent
    "before_append",  # packets are about to go to the log
    "after_append",  # they are in the log
    "before_checkpoint",
    "after_checkpoint",
    "before_finish",  # everything is streamed, nothing is committed
    "after_finish",  # the end is committed, `stop` is not in the log
    "before_announce",  # `stop` is in the log
    "after_announce",  # the task is not acknowledged
    "before_round",  # the model has requested tool calls, none is stored
    "after_round_began",  # they are stored as running, none has run
    "before_call_ended",  # a tool has run, its outcome is not stored
    "after_tool_images_stored",
    "after_call_ended",
    "after_approved_calls_began",
    "after_compression_claim",  # the compression is claimed
    "before_summary_asked",  # it is measured, its event is published
    "before_summary_stored",  # the model has written it
    "after_summary_stored",  # it is stored, the task is not acknowledged
    "after_file_claim",  # the file is claimed, nothing is read
    "before_file_end",  # it is read, nothing is stored
    "before_thumbnail_stored",  # the replacement of the upload is in the storage
    "after_picture_stored",  # both are, the row does not point to them
    "after_contents_imported",  # the files of an archive are in the storage, no row is
    "after_document_fetched",  # the content of a URL is here, the row does not point to it
    "after_chunk_batch",  # some chunks are stored, none is found
    "after_chunks_stored",  # all are, the file is not ready
    "after_file_end",  # the end is committed, nobody was told
    "after_vectors_claim",  # the model of embeddings is leased
    "before_vectors_stored",  # a batch is computed
    "after_vectors_stored",  # it is stored, the lease is not extended
]
SIGNALS: Final = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_ARMED: Final[dict[str, signal.Signals]] = {
    point: SIGNALS[action] for point, action in settings.FAULT_POINTS.items()
}


def reach(point: Point) -> None:
    """Send the signal configured for this point. Without FAULT_POINTS, as in production, it does nothing."""
    if _ARMED and point in _ARMED:
        # To this very thread: a signal to the process may be taken by another thread, and this one would go on
        # beyond the point until that one is scheduled.
        signal.pthread_kill(threading.get_ident(), _ARMED[point])
