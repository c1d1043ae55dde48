"""Names shared by the processes: Celery tasks, their queues, the control channel. Pure.

Task arguments are keyword-only ids, never prompt text. Workers of another release read them: extend, do not rename.
"""

from typing import Final

RUN_TURN: Final = "llm_worker.run_turn"  # run_id: str
LIST_MCP_TOOLS: Final = "llm_worker.list_mcp_tools"  # server_id: str, credential_id: str (tried first) or ""
ADVANCE_MCP_SIGN_IN: Final = "llm_worker.advance_mcp_sign_in"  # sign_in_id: str
ANSWER_MCP_REQUEST: Final = "llm_worker.answer_mcp_request"  # request_id: str
REVOKE_MCP_TOKENS: Final = "llm_worker.revoke_mcp_tokens"  # revocation_id: str
COMPRESS_BRANCH: Final = "compression.compress_branch"  # compression_id: str
EXTRACT_FILE: Final = "ingest.extract_file"  # file_id: str
COMPUTE_VECTORS: Final = "ingest.compute_vectors"  # no arguments: what waits is in the database
TASK_NAMES: Final = (
    RUN_TURN,
    LIST_MCP_TOOLS,
    ADVANCE_MCP_SIGN_IN,
    ANSWER_MCP_REQUEST,
    REVOKE_MCP_TOKENS,
)
DEFAULT_QUEUE: Final = "llm"
COMPRESSION_QUEUE: Final = "compression"
INGEST_QUEUE: Final = "ingest"

# Worker processes listen here for the ids of runs to stop (chat/infrastructure/revocation.py).
CONTROL_CHANNEL: Final = "turnwire:control"
