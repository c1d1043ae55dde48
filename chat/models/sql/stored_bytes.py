"""Statements about the bytes that users have stored.

Counted are the texts of messages, reasoning, tool calls, citations, feedback and errors as UTF-8, JSON as it is stored,
and ROW_BYTES for each message and tool call, so that many short ones have a size too. Postgres knows the length of a
long text without reading it.
"""

from typing import Final, NamedTuple

from chat.models.sql.statements import Statement

# The approximate size of a message or a call beside its texts.
ROW_BYTES: Final = 512


class MeasuredSession(NamedTuple):
    owner_id: int


class StoredSum(NamedTuple):
    total: int


# Parameters: session. Changes nothing if the session has an event meanwhile: what that stored may not be in the sum.
# Plan: message_session_id, indexes of foreign keys.
MEASURE: Final = Statement(
    f"""
    WITH seen AS (
        SELECT id, latest_event FROM chat_session WHERE id = %(session)s
    ), message AS (
        SELECT id, octet_length(text) + octet_length(reasoning) + (CASE role WHEN 'root' THEN 0 ELSE {ROW_BYTES} END) AS bytes
        FROM chat_chatmessage WHERE session_id = %(session)s
    ), run AS (
        SELECT run.id, octet_length(run.error_message) AS bytes
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id WHERE turn.session_id = %(session)s
    ), part AS (
        SELECT bytes FROM message
        UNION ALL SELECT bytes FROM run
        UNION ALL SELECT octet_length(additional_context) + COALESCE(pg_column_size(caller_tools), 0) FROM chat_turn WHERE session_id = %(session)s
        UNION ALL SELECT {ROW_BYTES} + octet_length(response) + octet_length(report) + octet_length(report_reasoning)
            + octet_length(text_before) + octet_length(reasoning) + pg_column_size(arguments) + pg_column_size(documents)
            FROM chat_toolcall WHERE run_id IN (SELECT id FROM run)
        UNION ALL SELECT octet_length(document_id) + octet_length(title) + COALESCE(octet_length(url), 0)
            FROM chat_citeddocument WHERE message_id IN (SELECT id FROM message)
        UNION ALL SELECT octet_length(text) FROM chat_feedback WHERE message_id IN (SELECT id FROM message)
    )
    UPDATE chat_session AS session
    SET stored_bytes = (SELECT COALESCE(SUM(bytes), 0) FROM part), is_measured = TRUE
    FROM seen WHERE session.id = seen.id AND session.latest_event = seen.latest_event
    RETURNING session.owner_id
    """,  # noqa: S608  constants alone
    MeasuredSession,
)
# The size of some files: contents and texts, and the contents of versions of documents that are served while another
# version is read.
_OF_FILES: Final = """(
        SELECT COALESCE(SUM(file.size_bytes + octet_length(file.text) + COALESCE(served.size_bytes, 0)), 0)
        FROM knowledge_file AS file LEFT JOIN knowledge_servedversion AS served ON served.document_id = file.id
        WHERE file.{condition}
    )"""
# Parameters: user. Plan: session_by_owner, file_by_owner.
SUM: Final = Statement(
    f"""
    SELECT (
        (SELECT COALESCE(SUM(stored_bytes), 0) FROM chat_session WHERE owner_id = %(user)s)
        + {_OF_FILES.format(condition="owner_id = %(user)s")}
    )::bigint
    """,  # noqa: S608  constants alone
    StoredSum,
)
# Parameters: base. Plan: the index of the foreign key.
SUM_OF_BASE: Final = Statement(
    f"SELECT {_OF_FILES.format(condition='knowledge_base_id = %(base)s')}::bigint",
    StoredSum,
)
