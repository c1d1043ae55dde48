"""Finds the summary that a run uses, by the counts of the branch: no text is loaded. Reads the database."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement
from chat.transcript.entries import Block, BlockKind, Document, TextFile
from chat.transcript.tokens import LONGEST_SIDE_PX, PATCH_PX, TOKENS_AROUND
from llm_worker.request.message_renderer import OMITTED_RESPONSE_TOKENS, SENT_AT_TOKENS
from llm_worker.request.model_message import TOKENS_PER_CALL, TOKENS_PER_MESSAGE
from llm_worker.request.prompt_parts import SUMMARY_TOKENS
from llm_worker.request.summary_choice import BranchSummary, MessageSize, choose_summary

# The tokens that a request needs for each call and file, besides the counted tokens.
CALL_TOKENS = TOKENS_PER_CALL + OMITTED_RESPONSE_TOKENS + 2 * TOKENS_PER_MESSAGE
FILE_TOKENS = 40


@dataclass(frozen=True)
class ModelWindow:
    """The window of a model. history_window: in tokens.  sees_images: if False, a line stands for each image."""

    history_window: int
    sees_images: bool = True


class SizeRow(NamedTuple):
    """The size of a message. tokens: without images."""

    depth: int
    is_question: bool
    tokens: int
    image_tokens: int


# Parameters: leaf. Plan: BRANCH, summary_by_session, index of chat_compression.summary_id.
SUMMARIES = Statement(
    f"""{BRANCH}
    SELECT made.id, cutoff.id, parent.depth, cutoff.depth,
        made.token_count + {SUMMARY_TOKENS + TOKENS_PER_MESSAGE},
        COALESCE((SELECT max(history_window) FROM chat_compression WHERE summary_id = made.id), 0)
    FROM chat_chatmessage AS made
        JOIN branch AS parent ON parent.id = made.parent_id
        JOIN branch AS cutoff ON cutoff.id = made.last_summarized_message_id
    WHERE made.role = 'summary'
        AND made.session_id = (SELECT session_id FROM chat_chatmessage WHERE id = %(leaf)s)
    ORDER BY parent.depth DESC, made.sent_at, made.id
    """,  # noqa: S608  constants alone
    BranchSummary,
)
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


def find_summary(leaf: UUID, window: ModelWindow | None) -> BranchSummary | None:
    """Find the summary that a request with this window uses on the branch to `leaf`; without window, the newest one."""
    summaries = SUMMARIES.all(leaf=leaf)
    if window is None:
        return summaries[-1] if summaries else None
    return choose_summary(summaries, window.history_window, lambda: _sizes(leaf, window))


def _sizes(leaf: UUID, window: ModelWindow) -> Iterator[MessageSize]:
    for depth, is_question, tokens, image_tokens in SIZES.all(leaf=leaf):
        yield MessageSize(depth, is_question, tokens + image_tokens * window.sees_images)


class BlockInForce(NamedTuple):
    """The latest block of its kind. documents: JSON."""

    kind: BlockKind
    text: str
    token_count: int
    documents: str


class CoveredFile(NamedTuple):
    id: UUID
    name: str
    size_bytes: int
    number: int


# Parameters: leaf. Plan: BRANCH, one_prompt_block_per_kind.
BLOCKS = Statement(
    f"""{BRANCH}
    SELECT DISTINCT ON (block.kind) block.kind, block.text, block.token_count, block.documents
    FROM chat_promptblock AS block JOIN branch ON branch.id = block.message_id
    WHERE block.message_id = ANY({BRANCH_IDS})
    ORDER BY block.kind, branch.depth
    """,  # noqa: S608  constants alone
    BlockInForce,
)
# The files, without their texts: a model reads a file by its id.
# Parameters: leaf. Plan: BRANCH, one_file_per_position, primary key of knowledge_file.
FILES = Statement(
    f"""{BRANCH}
    SELECT file.id, file.name, file.size_bytes, attached.number
    FROM chat_messagefile AS attached JOIN branch ON branch.id = attached.message_id
    JOIN knowledge_file AS file ON file.id = attached.file_id
    WHERE attached.message_id = ANY({BRANCH_IDS}) AND attached.number IS NOT NULL
    ORDER BY branch.depth, attached.position DESC
    """,  # noqa: S608  constants alone
    CoveredFile,
)


@dataclass(frozen=True)
class SummaryCoverage:
    """The parts that stay. blocks: the latest of each kind.  files: newest first.  project: numbers in the P block."""

    blocks: Sequence[Block] = ()
    files: Sequence[TextFile] = ()
    project: Sequence[int] = ()


def load_summary_coverage(cutoff: UUID) -> SummaryCoverage:
    """Load the coverage of the messages from the root to `cutoff`."""
    blocks = BLOCKS.all(leaf=cutoff)
    files = [
        TextFile(str(pk), name, size_bytes, Document(number, str(pk), name))
        for pk, name, size_bytes, number in FILES.all(leaf=cutoff)
    ]
    numbers = [
        document["number"]
        for block in blocks
        if block.kind == "P"
        for document in json.loads(block.documents)
    ]
    return SummaryCoverage([Block(kind, text, tokens) for kind, text, tokens, _ in blocks], files, numbers)
