"""Loads the parts of summarised messages that stay: blocks still in force, and files that can be read by their id.

Used only for branches that have a summary.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement
from chat.transcript.entries import Block, BlockKind, Document, TextFile


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
    numbers = [one["number"] for block in blocks if block.kind == "P" for one in json.loads(block.documents)]
    return SummaryCoverage([Block(kind, text, tokens) for kind, text, tokens, _ in blocks], files, numbers)
