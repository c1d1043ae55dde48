"""Statements about messages, their sizes in a later request, and rows that belong to a branch of them."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.rows import MESSAGE_PLACE, MessagePlace
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


class DocumentNumber(NamedTuple):
    number: int


class PickedBases(NamedTuple):
    knowledge_bases: list[UUID]


class LatestBlock(NamedTuple):
    kind: str
    text: str


# Parameters: message. Plan: primary key.
READ_PLACE: Final = Statement(
    f"SELECT {MESSAGE_PLACE} FROM chat_chatmessage AS message WHERE id = %(message)s",  # noqa: S608
    MessagePlace,
)
# The highest number of a document on the branch: files of messages, stored projects, results of tools,
# citations of answers. Parameters: leaf. Plan: BRANCH, then the index of each foreign key once.
HIGHEST_DOCUMENT_NUMBER: Final = Statement(
    f"""{BRANCH}, taken AS (
        SELECT number FROM chat_messagefile WHERE message_id = ANY({BRANCH_IDS})
        UNION ALL
        SELECT number FROM chat_citeddocument WHERE message_id = ANY({BRANCH_IDS})
        UNION ALL
        SELECT (shown ->> 'number')::int
        FROM chat_promptblock AS block, jsonb_array_elements(block.documents) AS shown
        WHERE block.message_id = ANY({BRANCH_IDS})
        UNION ALL
        SELECT (found ->> 'number')::int
        FROM chat_toolcall AS call, jsonb_array_elements(call.documents) AS found
        WHERE call.run_id = ANY(ARRAY(SELECT id FROM chat_run WHERE message_id = ANY({BRANCH_IDS})))
    )
    SELECT COALESCE(max(number), 0) FROM taken
    """,  # noqa: S608  constants alone
    DocumentNumber,
)
# The knowledge bases that were picked with each question of the branch, the newest question first.
# Parameters: leaf, session. Plan: BRANCH, then the index of chat_turn.user_message_id.
PICKED_BASES: Final = Statement(
    f"""{BRANCH}
    SELECT turn.knowledge_bases FROM chat_turn AS turn JOIN branch ON branch.id = turn.user_message_id
    WHERE turn.user_message_id = ANY({BRANCH_IDS}) AND turn.session_id = %(session)s
        AND turn.knowledge_bases IS NOT NULL
    ORDER BY branch.depth, turn.created_at
    """,  # noqa: S608  constants alone
    PickedBases,
)
# For each kind, the prompt block nearest to the leaf. Parameters: leaf. Plan: BRANCH, one_prompt_block_per_kind.
LATEST_BLOCKS: Final = Statement(
    f"""{BRANCH}
    SELECT DISTINCT ON (kind) kind, text
    FROM chat_promptblock AS block JOIN branch ON branch.id = block.message_id
    WHERE block.message_id = ANY({BRANCH_IDS}) ORDER BY kind, depth
    """,  # noqa: S608  constants alone
    LatestBlock,
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
