"""Loads a branch of the message tree as entries, with their tool rounds, files and prompt blocks."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import NamedTuple, cast
from uuid import UUID

from chat.compressions.summaries import Summary
from chat.loaders.attachments import Attachments, load_attachments, load_tool_images
from chat.models import ChatMessage, MessageFile
from chat.models.sql.statements import BRANCH_IDS, Statement
from chat.transcript.entries import Block, BlockKind, Call, Entry, EntryRole, Round, SentBack, TextFile
from llm_worker.loading.branch_summaries import ModelWindow, find_summary, load_summary_coverage
from llm_worker.request.summary_choice import BranchSummary
from llm_worker.upstream.kept_members import whole_members

_LEAF = "%(leaf)s"
_OF_RUN = """(
    SELECT turn.user_message_id FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
    WHERE run.id = %(run)s
)"""
_BRANCH = """
    WITH RECURSIVE branch AS (
        SELECT id, parent_id, role, text, sent_at, token_count, 0 AS depth
        FROM chat_chatmessage WHERE id = {leaf}
        UNION ALL
        SELECT above.id, above.parent_id, above.role, above.text, above.sent_at, above.token_count, depth + 1
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id {until}
    )
"""


class MessageRow(NamedTuple):
    """A message of the branch, or its summary (role `summary`)."""

    id: UUID
    role: str
    text: str
    sent_at: datetime
    token_count: int
    has_calls: bool
    has_files: bool
    has_blocks: bool


class CallRow(NamedTuple):
    """A tool call. arguments, sent_back: JSON. response: its first character, or all of it if it is_given by the caller.
    reasoning: empty without sent_back."""

    message_id: UUID
    turn_number: int
    text_before: str
    tool_call_id: str
    name: str
    arguments: str
    response: str
    token_count: int
    sent_back: str | None
    reasoning: str
    id: UUID
    has_images: bool
    is_given: bool


class BlockRow(NamedTuple):
    """A stored prompt block. documents: JSON."""

    message_id: UUID
    kind: BlockKind
    text: str
    token_count: int
    documents: str


# Whether a message has rows of a table. The rows are looked up once for all messages of the branch, and hashed.
_HAS = f"branch.id IN (SELECT message_id FROM {{table}} WHERE message_id = ANY({BRANCH_IDS}))"  # noqa: S608
_SHOWN = "id, role, text, sent_at, token_count, " + ", ".join(
    _HAS.format(table=table) for table in ("chat_toolcall", "chat_messagefile", "chat_promptblock")
)
# ChatMessage.objects.branch_to without the ORM: every run executes it once, and building the query took ten times
# as long as running it. Returns no rows in sessions that have summaries: they are rare, and each run chooses its own.
_MESSAGES = f"""{_BRANCH.replace("{until}", "")}
    SELECT {_SHOWN} FROM branch
    WHERE role IN ('user', 'assistant') AND NOT EXISTS (
        SELECT FROM chat_chatmessage AS made WHERE made.role = 'summary'
            AND made.session_id = (SELECT session_id FROM chat_chatmessage WHERE id = {{leaf}})
    ) ORDER BY depth DESC
"""  # noqa: S608  constants alone
# Parameters: leaf. Plan: primary key for each message, summary_by_session, then each table once by index.
MESSAGES = Statement(_MESSAGES.format(leaf=_LEAF), MessageRow)
# MESSAGES for the message that a run answers. Parameters: run.
MESSAGES_OF_RUN = Statement(_MESSAGES.format(leaf=_OF_RUN), MessageRow)
# The messages after the cutoff, in a session that has summaries; all messages if it is NULL.
# Parameters: leaf, cutoff. Plan: like MESSAGES.
AFTER_CUTOFF = Statement(
    f"""{_BRANCH.format(leaf=_LEAF, until="WHERE above.id IS DISTINCT FROM %(cutoff)s::uuid")}
    SELECT {_SHOWN} FROM branch WHERE role IN ('user', 'assistant') ORDER BY depth DESC
    """,  # noqa: S608  constants alone
    MessageRow,
)
# Later turns only see whether there was a response, unless the caller gave it: at first, or for a call that is pending.
# Parameters: answers. Plan: one_tool_call_per_place_in_message, one_tool_image_per_position, chat_run by message, chat_turn by id.
CALLS = Statement(
    """
    WITH given AS MATERIALIZED (
        SELECT run.message_id, turn.given_rounds AS rounds
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        WHERE run.message_id = ANY(%(answers)s) AND turn.given_rounds > 0
    )
    SELECT call.message_id, call.turn_number, call.text_before, call.tool_call_id, call.name, call.arguments,
        CASE WHEN call.turn_number < given.rounds OR call.status = 'pending' THEN call.response ELSE left(call.response, 1) END, call.token_count, call.sent_back, CASE WHEN call.sent_back IS NULL THEN '' ELSE call.reasoning END, call.id,
        call.status = 'completed' AND first_image.id IS NOT NULL,
        COALESCE(call.turn_number < given.rounds, FALSE) OR call.status = 'pending'
    FROM chat_toolcall AS call LEFT JOIN given USING (message_id)
    LEFT JOIN chat_toolcallimage AS first_image ON first_image.tool_call_id = call.id AND first_image.position = 0
    WHERE call.message_id = ANY(%(answers)s) ORDER BY call.message_id, call.turn_number, call.tab_index
    """,
    CallRow,
)
# Parameters: questions. Plan: one_prompt_block_per_kind.
BLOCKS = Statement(
    """
    SELECT message_id, kind, text, token_count, documents FROM chat_promptblock
    WHERE message_id = ANY(%(questions)s)
    """,
    BlockRow,
)


@dataclass(frozen=True)
class Branch:
    """A branch of the message tree, or its part after the cutoff of a summary.

    entries: oldest first; with a summary, the first entry carries the blocks that are still in force.
    highest_number: the highest number of a document that was found, attached or stored on the whole branch.
    project: the text of the latest project block, and the numbers of its documents.
    summarised_files: files of the messages that the summary replaces, newest first, without their texts.
    """

    entries: Sequence[Entry]
    highest_number: int = 0
    project: tuple[str, Sequence[int]] = ("", ())
    summary: Summary | None = None
    summarised_files: Sequence[TextFile] = ()

    def without_blocks(self, *kinds: BlockKind) -> "Branch":
        """Return the branch without stored blocks of these kinds; without any block if no kind is given."""
        entries = [
            replace(entry, blocks=tuple(block for block in entry.blocks if kinds and block.kind not in kinds))
            if entry.blocks
            else entry
            for entry in self.entries
        ]
        return replace(self, entries=entries)

    def with_block(self, block: Block) -> "Branch":
        """Return the branch with this block above the last message; it replaces a block of the same kind."""
        *before, question = self.entries
        others = tuple(one for one in question.blocks if one.kind != block.kind)
        return replace(self, entries=[*before, replace(question, blocks=(*others, block))])


def load_branch(
    leaf: UUID,
    rows: list[MessageRow] | None = None,
    window: Callable[[], ModelWindow] | None = None,
    *,
    sees_images: bool = True,
) -> Branch:
    """Load the branch from the root, or from the cutoff of the summary that a run uses, to the message `leaf`.

    Calls, files and blocks are queried only for messages that have some. rows: the result of MESSAGES or
    MESSAGES_OF_RUN; None if not executed yet.  window: returns the window of the run, called in sessions that have
    summaries; None to use the newest summary.  sees_images: if False, images of tools are not read, as models without
    vision are shown nothing in their place.
    """
    rows = MESSAGES.all(leaf=leaf) if rows is None else rows
    summary = None
    if not rows:
        found = find_summary(leaf, window() if window else None)
        summary = _summary(found) if found else None
        rows = AFTER_CUTOFF.all(leaf=leaf, cutoff=summary.cutoff if summary else None)
    with_calls = [row.id for row in rows if row.has_calls]
    with_files = [row.id for row in rows if row.has_files]
    with_blocks = [row.id for row in rows if row.has_blocks]
    rounds = _rounds(with_calls, sees_images=sees_images) if with_calls else {}
    attached = load_attachments(with_files) if with_files else {}
    blocks, project = _blocks(with_blocks) if with_blocks else ({}, ("", ()))
    entries = [_entry(row, rounds, attached, blocks) for row in rows]
    has_numbers = with_calls or with_files or project[1] or summary
    highest_number = MessageFile.objects.highest_number(leaf) if has_numbers else 0
    branch = Branch(entries, highest_number, project)
    return _with_summary(summary, branch) if summary else branch


def _entry(
    row: MessageRow,
    rounds: Mapping[UUID, tuple[Round, ...]],
    attached: Mapping[UUID, Attachments],
    blocks: Mapping[UUID, tuple[Block, ...]],
) -> Entry:
    return Entry(
        str(row.id),
        cast("EntryRole", row.role),
        row.text,
        row.sent_at,
        row.token_count,
        rounds=rounds.get(row.id, ()),
        files=tuple(attached[row.id].files) if row.id in attached else (),
        images=tuple(attached[row.id].images) if row.id in attached else (),
        blocks=blocks.get(row.id, ()),
    )


def _summary(found: BranchSummary) -> Summary | None:
    """Load the summary with its text; None if it was deleted meanwhile."""
    row = ChatMessage.objects.filter(pk=found.id).values_list("text", "token_count").first()
    return Summary(found.id, *row, found.cutoff) if row else None


def _with_summary(summary: Summary, branch: Branch) -> Branch:
    """Add the summary, and carry blocks of the summarised messages over to the first entry after the cutoff."""
    covered = load_summary_coverage(summary.cutoff)
    first, *rest = branch.entries
    own = {block.kind for block in first.blocks}
    standing = tuple(block for block in covered.blocks if block.kind not in own)
    stored = next((block.text for block in covered.blocks if block.kind == "P"), "")
    return replace(
        branch,
        entries=[replace(first, blocks=(*standing, *first.blocks)), *rest],
        project=branch.project if any(branch.project) else (stored, covered.project),
        summary=summary,
        summarised_files=covered.files,
    )


def _rounds(answers: Sequence[UUID], *, sees_images: bool) -> Mapping[UUID, tuple[Round, ...]]:
    rounds: dict[UUID, list[Round]] = defaultdict(list)
    found = CALLS.all(answers=answers)
    with_images = [row.id for row in found if row.has_images] if sees_images else []
    images = load_tool_images(with_images, with_contents=True) if with_images else {}
    for (message, _), group in groupby(found, lambda row: row[:2]):
        rows = list(group)
        calls = tuple(
            Call(
                row.tool_call_id,
                row.name,
                json.loads(row.arguments),
                row.response,
                row.token_count,
                images.get(row.id, ()),
                is_given=row.is_given,
            )
            for row in rows
        )
        first = rows[0]
        sent_back = _sent_back(first.sent_back) if first.sent_back else None
        rounds[message].append(Round(calls, first.text_before, first.reasoning, sent_back))
    return {message: tuple(each) for message, each in rounds.items()}


def _sent_back(stored: str) -> SentBack:
    sent_back = SentBack(**json.loads(stored))
    # Rows from before version 0.2.0 hold the pieces in which the members were streamed.
    return replace(sent_back, members=whole_members(sent_back.members))


def _blocks(questions: Sequence[UUID]) -> tuple[Mapping[UUID, tuple[Block, ...]], tuple[str, list[int]]]:
    """Load blocks by message, and text and document numbers of the latest project block. questions: oldest first."""
    blocks: dict[UUID, list[Block]] = defaultdict(list)
    projects: dict[UUID, tuple[str, list[int]]] = {}
    for message, kind, text, tokens, documents in BLOCKS.all(questions=questions):
        blocks[message].append(Block(kind, text, tokens))
        if kind == "P":
            projects[message] = text, [one["number"] for one in json.loads(documents)]
    newest = next((projects[message] for message in reversed(questions) if message in projects), ("", []))
    return {message: tuple(each) for message, each in blocks.items()}, newest
