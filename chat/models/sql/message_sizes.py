"""The sizes of the messages of a branch in a later request, by their stored counts: no text is read."""

from typing import NamedTuple

from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement
from chat.transcript.tokens import (
    LONGEST_SIDE_PX,
    OMITTED_RESPONSE_TOKENS,
    PATCH_PX,
    SENT_AT_TOKENS,
    TOKENS_AROUND,
    TOKENS_PER_CALL,
    TOKENS_PER_MESSAGE,
)

# The tokens that a request needs for each call and file, besides the counted tokens.
CALL_TOKENS = TOKENS_PER_CALL + OMITTED_RESPONSE_TOKENS + 2 * TOKENS_PER_MESSAGE
FILE_TOKENS = 40


class SizeRow(NamedTuple):
    """The size of a message. tokens: without images."""

    depth: int
    is_question: bool
    tokens: int
    image_tokens: int


# A text without a stored count is estimated from its bytes.
_TEXT = "COALESCE(NULLIF(message.token_count, 0), octet_length(message.text) / 3)"
_SCALE = f"LEAST(1.0, {LONGEST_SIDE_PX}.0 / GREATEST(file.width_px, file.height_px, 1))"
_PATCHES = " * ".join(
    f"CEIL(COALESCE(file.{side}, 0) * {_SCALE} / {PATCH_PX})" for side in ("width_px", "height_px")
)
# Parameters: leaf. Plan: BRANCH, primary key for each message, then each table once by index.
SIZES = Statement(
    f"""{BRANCH}, block AS (
        SELECT message_id, sum(token_count + {TOKENS_PER_MESSAGE}) AS tokens FROM chat_promptblock
        WHERE message_id = ANY({BRANCH_IDS}) GROUP BY message_id
    ), call AS (
        SELECT message_id, sum(token_count + {CALL_TOKENS}) AS tokens FROM chat_toolcall
        WHERE message_id = ANY({BRANCH_IDS}) GROUP BY message_id
    ), attached AS (
        SELECT one.message_id, sum(file.token_count + {FILE_TOKENS}) FILTER (WHERE file.kind <> 'image') AS tokens,
            sum({_PATCHES} + {TOKENS_AROUND}) FILTER (WHERE file.kind = 'image')::int AS image_tokens
        FROM chat_messagefile AS one JOIN knowledge_file AS file ON file.id = one.file_id
        WHERE one.message_id = ANY({BRANCH_IDS}) GROUP BY one.message_id
    ), returned AS (
        SELECT call.message_id, sum({_PATCHES} + {TOKENS_AROUND})::int AS image_tokens
        FROM chat_toolcall AS call JOIN chat_toolcallimage AS image ON image.tool_call_id = call.id
            JOIN knowledge_file AS file ON file.id = image.file_id
        WHERE call.message_id = ANY({BRANCH_IDS}) AND file.status = 'ready' AND call.status = 'completed'
        GROUP BY call.message_id
    )
    SELECT branch.depth, message.role = 'user',
        {_TEXT} + {TOKENS_PER_MESSAGE}
        + CASE message.role
            WHEN 'user' THEN {SENT_AT_TOKENS} + COALESCE(block.tokens, 0) + COALESCE(attached.tokens, 0)
            ELSE COALESCE(call.tokens, 0)
        END,
        CASE message.role
            WHEN 'user' THEN COALESCE(attached.image_tokens, 0)
            ELSE COALESCE(returned.image_tokens, 0)
        END
    FROM branch JOIN chat_chatmessage AS message ON message.id = branch.id
    LEFT JOIN block ON block.message_id = message.id
    LEFT JOIN call ON call.message_id = message.id
    LEFT JOIN attached ON attached.message_id = message.id
    LEFT JOIN returned ON returned.message_id = message.id
    WHERE message.role IN ('user', 'assistant') AND message.id = ANY({BRANCH_IDS})
    """,  # noqa: S608  constants alone
    SizeRow,
)
