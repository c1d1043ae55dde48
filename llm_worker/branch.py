"""A branch of the tree as entries: what was said, with the tool rounds and the blocks that stand beside it."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from chat import attachments
from chat.models import MessageFile, statements
from chat.transcript import Block, BlockKind, Call, Entry, Round

# ChatMessage.objects.branch_to without the ORM: every run asks this once, and building the query took ten
# times as long as running it.
MESSAGES = """
    WITH RECURSIVE branch AS (
        SELECT id, parent_id, role, text, sent_at, token_count, 0 AS depth
        FROM chat_chatmessage WHERE id = %(leaf)s
        UNION ALL
        SELECT above.id, above.parent_id, above.role, above.text, above.sent_at, above.token_count, depth + 1
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id
    )
    SELECT id, role, text, sent_at, token_count,
        EXISTS (SELECT FROM chat_toolcall WHERE message_id = branch.id),
        EXISTS (SELECT FROM chat_messagefile WHERE message_id = branch.id),
        EXISTS (SELECT FROM chat_promptblock WHERE message_id = branch.id)
    FROM branch WHERE role IN ('user', 'assistant') ORDER BY depth DESC
"""
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
    """entries: oldest first.  highest_number: of the documents that were found, attached or stored on it.

    project: the text of the newest project block, and the numbers of its documents.
    """

    entries: Sequence[Entry]
    highest_number: int = 0
    project: tuple[str, Sequence[int]] = ("", ())

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


def load_branch(leaf: Any) -> Branch:
    """The replies from the root to this message. What most messages do not have is asked for only where there is some."""
    rows = statements.every(MESSAGES, {"leaf": leaf})
    with_calls, with_files, with_blocks = ([row[0] for row in rows if row[at]] for at in (5, 6, 7))
    rounds = _rounds(with_calls) if with_calls else {}
    attached = attachments.of_messages(with_files) if with_files else {}
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
    has_numbers = with_calls or with_files or project[1]
    return Branch(entries, MessageFile.objects.highest_number(leaf) if has_numbers else 0, project)


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
