"""A branch of the tree as entries: what was said, with the tool rounds and the blocks that stand beside it."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from chat.compressions.summaries import CHOSEN, Summary
from chat.loaders.attachments import load_attachments
from chat.models import MessageFile
from chat.models.sql import statements
from chat.transcript.entries import Block, BlockKind, Call, Entry, Round, TextFile
from llm_worker.loading.summary_coverage import load_summary_coverage

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
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id
    )
"""
_SHOWN = """
    id, role, text, sent_at, token_count,
    EXISTS (SELECT FROM chat_toolcall WHERE message_id = branch.id),
    EXISTS (SELECT FROM chat_messagefile WHERE message_id = branch.id),
    EXISTS (SELECT FROM chat_promptblock WHERE message_id = branch.id)
"""
# ChatMessage.objects.branch_to without the ORM: every run asks this once, and building the query took ten
# times as long as running it. Nothing, at once, in sessions that have summaries: those are rare, and the other
# statement takes twice as long to plan.
_MESSAGES = f"""{_BRANCH}
    SELECT {_SHOWN} FROM branch
    WHERE role IN ('user', 'assistant') AND NOT EXISTS (
        SELECT FROM chat_chatmessage AS made WHERE made.role = 'summary'
            AND made.session_id = (SELECT session_id FROM chat_chatmessage WHERE id = {{leaf}})
    ) ORDER BY depth DESC
"""  # noqa: S608  constants alone
MESSAGES = _MESSAGES.format(leaf=_LEAF)
# The same for what a run answers.
MESSAGES_OF_RUN = _MESSAGES.format(leaf=_OF_RUN)
# Deeper than a branch can be.
_MORE_THAN_ANY = 2_147_483_647
# What the summary stands for is left out, and the summary itself comes first.
SUMMARISED = f"""{_BRANCH.format(leaf=_LEAF)}, summary AS ({CHOSEN}),
    covered AS (SELECT branch.depth FROM branch JOIN summary ON branch.id = summary.cutoff)
    SELECT {_SHOWN}, NULL::uuid AS cutoff, depth FROM branch
    WHERE role IN ('user', 'assistant') AND depth < COALESCE((SELECT depth FROM covered), {_MORE_THAN_ANY})
    UNION ALL
    SELECT id, 'summary', text, sent_at, token_count, FALSE, FALSE, FALSE, cutoff, {_MORE_THAN_ANY}
    FROM summary WHERE EXISTS (SELECT FROM covered)
    ORDER BY depth DESC
"""  # noqa: S608  constants alone
# Of a response, later turns see only that there was one.
CALLS = """
    SELECT message_id, turn_number, text_before, tool_call_id, name, arguments, left(response, 1), token_count
    FROM chat_toolcall WHERE message_id = ANY(%(answers)s) ORDER BY message_id, turn_number, tab_index
"""
BLOCKS = """
    SELECT message_id, kind, text, token_count, documents FROM chat_promptblock
    WHERE message_id = ANY(%(questions)s)
"""


@dataclass(frozen=True)
class Branch:
    """entries: oldest first; with a summary, those after its cutoff, and the first carries the blocks that still hold.

    highest_number: of the documents that were found, attached or stored on the whole branch.
    project: the text of the newest project block, and the numbers of its documents.
    summarised_files: of the messages that the summary stands for, newest first, without their texts.
    """

    entries: Sequence[Entry]
    highest_number: int = 0
    project: tuple[str, Sequence[int]] = ("", ())
    summary: Summary | None = None
    summarised_files: Sequence[TextFile] = ()

    def without_blocks(self, *kinds: BlockKind) -> "Branch":
        """kinds: which; all if none are named."""
        entries = [
            replace(entry, blocks=tuple(block for block in entry.blocks if kinds and block.kind not in kinds))
            if entry.blocks
            else entry
            for entry in self.entries
        ]
        return replace(self, entries=entries)

    def with_block(self, block: Block) -> "Branch":
        """Above the last message, instead of one of its kind."""
        *before, question = self.entries
        others = tuple(one for one in question.blocks if one.kind != block.kind)
        return replace(self, entries=[*before, replace(question, blocks=(*others, block))])


def load_branch(leaf: Any, rows: list[Any] | None = None) -> Branch:
    """The replies from the root, or from the cutoff of the summary in force, to this message.

    What most messages do not have is asked for only where there is some. rows: what MESSAGES or MESSAGES_OF_RUN has
    found; None: it was not asked yet.
    """
    given = {"leaf": leaf}
    if rows is None:
        rows = statements.every(MESSAGES, given)
    rows = rows or statements.every(SUMMARISED, given)
    summary = None
    if rows and rows[0][1] == "summary":
        pk, _, text, _, tokens, *_, cutoff, _ = rows.pop(0)
        summary = Summary(pk, text, tokens, cutoff)
    with_calls, with_files, with_blocks = ([row[0] for row in rows if row[at]] for at in (5, 6, 7))
    rounds = _rounds(with_calls) if with_calls else {}
    attached = load_attachments(with_files) if with_files else {}
    blocks, project = _blocks(with_blocks) if with_blocks else ({}, ("", ()))
    entries = [
        Entry(
            str(pk),
            role,
            text,
            sent_at,
            tokens,
            rounds=rounds.get(pk, ()),
            files=tuple(attached[pk].files) if pk in attached else (),
            images=tuple(attached[pk].images) if pk in attached else (),
            blocks=blocks.get(pk, ()),
        )
        for pk, role, text, sent_at, tokens, *_ in rows
    ]
    has_numbers = with_calls or with_files or project[1] or summary
    highest_number = MessageFile.objects.highest_number(leaf) if has_numbers else 0
    branch = Branch(entries, highest_number, project)
    return _behind(summary, branch) if summary else branch


def _behind(summary: Summary, branch: Branch) -> Branch:
    """What the covered messages still have to say stands where the branch goes on."""
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


def _rounds(answers: Sequence[UUID]) -> Mapping[UUID, tuple[Round, ...]]:
    rounds: dict[UUID, list[Round]] = defaultdict(list)
    for (message, _), calls in groupby(statements.every(CALLS, {"answers": answers}), lambda row: row[:2]):
        rows = list(calls)
        asked = tuple(Call(row[3], row[4], json.loads(row[5]), row[6], row[7]) for row in rows)
        rounds[message].append(Round(asked, text_before=rows[0][2]))
    return {message: tuple(each) for message, each in rounds.items()}


def _blocks(questions: Sequence[UUID]) -> tuple[Mapping[UUID, tuple[Block, ...]], tuple[str, list[int]]]:
    """By message; and what the newest project block says. questions: oldest first."""
    blocks: dict[UUID, list[Block]] = defaultdict(list)
    projects: dict[UUID, tuple[str, list[int]]] = {}
    for message, kind, text, tokens, documents in statements.every(BLOCKS, {"questions": questions}):
        blocks[message].append(Block(kind, text, tokens))
        if kind == "P":
            projects[message] = text, [one["number"] for one in json.loads(documents)]
    newest = next((projects[message] for message in reversed(questions) if message in projects), ("", []))
    return {message: tuple(each) for message, each in blocks.items()}, newest
