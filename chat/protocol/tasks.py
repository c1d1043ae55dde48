"""Names shared by the processes: Celery tasks, their queues, the control channel. Pure.

Task arguments are keyword-only ids, never prompt text. Workers of another release read them: extend, do not rename.
"""

from typing import Final

RUN_TURN: Final = "llm_worker.run_turn"  # run_id: str
COMPRESS_BRANCH: Final = "compression.compress_branch"  # compression_id: str
EXTRACT_FILE: Final = "ingest.extract_file"  # file_id: str
COMPUTE_VECTORS: Final = "ingest.compute_vectors"  # no arguments: what waits is in the database
DEFAULT_QUEUE: Final = "llm"
COMPRESSION_QUEUE: Final = "compression"
INGEST_QUEUE: Final = "ingest"

# Worker processes listen here for the ids of runs to stop (chat/infrastructure/revocation.py).
CONTROL_CHANNEL: Final = "turnwire:control"
