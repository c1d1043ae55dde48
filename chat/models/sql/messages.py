"""Statements about messages and what hangs on a branch of them."""

from typing import Final, NamedTuple

from chat.models.sql.rows import MESSAGE_PLACE, MessagePlace
from chat.models.sql.statements import BRANCH, Statement


class DocumentNumber(NamedTuple):
    number: int


class LatestBlock(NamedTuple):
    kind: str
    text: str


# Parameters: message. Plan: primary key.
READ_PLACE: Final = Statement(
    f"SELECT {MESSAGE_PLACE} FROM chat_chatmessage AS message WHERE id = %(message)s",  # noqa: S608
    MessagePlace,
)
# The highest number of a document on the branch: files of messages, stored projects, what tools found,
# what answers cited. Parameters: leaf. Plan: BRANCH, then for each message the indexes of the foreign keys.
HIGHEST_DOCUMENT_NUMBER: Final = Statement(
    f"""{BRANCH}, taken AS (
        SELECT file.number FROM chat_messagefile AS file JOIN branch ON branch.id = file.message_id
        UNION ALL
        SELECT cited.number FROM chat_citeddocument AS cited JOIN branch ON branch.id = cited.message_id
        UNION ALL
        SELECT (shown ->> 'number')::int
        FROM branch JOIN chat_promptblock AS block ON block.message_id = branch.id,
        jsonb_array_elements(block.documents) AS shown
        UNION ALL
        SELECT (found ->> 'number')::int
        FROM branch JOIN chat_run AS run ON run.message_id = branch.id
        JOIN chat_toolcall AS call ON call.run_id = run.id,
        jsonb_array_elements(call.documents) AS found
    )
    SELECT COALESCE(max(number), 0) FROM taken
    """,  # noqa: S608  constants alone
    DocumentNumber,
)
# Of each kind the prompt block nearest to the leaf. Parameters: leaf. Plan: BRANCH, one_prompt_block_per_kind.
LATEST_BLOCKS: Final = Statement(
    f"""{BRANCH}
    SELECT DISTINCT ON (kind) kind, text
    FROM chat_promptblock AS block JOIN branch ON branch.id = block.message_id ORDER BY kind, depth
    """,  # noqa: S608  constants alone
    LatestBlock,
)
