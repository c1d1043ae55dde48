"""Finds the summary that a run uses, by the counts of the branch: no text is loaded. Reads the database."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from chat.models.sql.messages import SIZES
from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement
from chat.transcript.entries import Block, BlockKind, Document, TextFile
from chat.transcript.tokens import TOKENS_PER_MESSAGE
from llm_worker.request.prompt_parts import SUMMARY_TOKENS
from llm_worker.request.summary_choice import BranchSummary, MessageSize, choose_summary


@dataclass(frozen=True)
class ModelWindow:
    """The window of a model. history_window: in tokens.  sees_images: if False, a line stands for each image."""

    history_window: int
    sees_images: bool = True


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
