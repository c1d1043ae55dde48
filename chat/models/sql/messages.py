"""Statements about messages, and about rows that belong to a branch of them."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.rows import MESSAGE_PLACE, MessagePlace
from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement


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
