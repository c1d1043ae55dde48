"""Forks a session: copies the branch up to an answer, as it is stored, into a new session of its owner.

Rows are copied instead of exported and imported: later turns build on the same files, document numbers, prompt blocks
and summaries. Runs are copied as imported ones: they are shown, but not counted as usage and never executed.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Model, QuerySet

from chat.events import session_list
from chat.models import (
    ChatMessage,
    CitedDocument,
    Compression,
    EditedAnswer,
    Feedback,
    MessageFile,
    PromptBlock,
    Role,
    Run,
    Session,
    ToolCall,
    ToolCallImage,
    Turn,
)
from chat.models.sql import statements
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.sessions.settings import add_stored_session, check_listed, hold_references

# Number of messages whose rows are in memory at the same time.
CHUNK: Final = 50
MAX_TITLE: Final = 200
# Fields that the new session takes from the old one. It is neither pinned nor archived.
_KEPT: Final = (
    "agent_id", "project_id", "settings", "has_picked_bases", "has_own_models", "tags", "models",
)  # fmt: skip
_NUMBERED: Final = re.compile(r"^(.*) \((\d{1,3})\)$", re.DOTALL)
# Models that refer to a message and to no other copied row.
_OF_MESSAGES: Final[tuple[Any, ...]] = (CitedDocument, Feedback, MessageFile, PromptBlock)
R = TypeVar("R", bound=Model)


def fork_session(session: Session, answer: ChatMessage, title: str = "") -> Session:
    """Copy the branch that ends in `answer` into a new session. title: empty for the numbered title of the session.

    Raises ApiError if the session is temporary, `answer` is not an answer in it, an answer on the branch is in
    progress, the agent or project is gone, or the owner has no room.
    """
    if answer.role != Role.ASSISTANT:
        raise ApiError("role_order", "A chat is forked from an answer.", field="message")
    check_listed(session)
    quotas.SESSIONS.check(session.owner)
    with transaction.atomic():
        hold_references({"agent": session.agent, "project": session.project})
        source = _lock(session.pk)
        branch = list(ChatMessage.objects.branch_to(answer).values_list("pk", flat=True))
        if answer.pk not in branch:
            raise ApiError("message_not_found", field="message")
        if Run.objects.live().filter(message__in=branch).exists():
            raise ApiError("answer_in_progress", field="message")
        fork = _draft(source, title)
        _Copies(fork, branch).store()
        add_stored_session(fork)
        session_list.publish_created(fork)
    return fork


def _lock(pk: UUID) -> Session:
    """Lock the session: its branches do not change until the transaction ends. Raises ApiError if it is gone."""
    try:
        return Session.objects.lock(pk)
    except Session.DoesNotExist:
        raise ApiError("session_not_found") from None


def _draft(source: Session, title: str) -> Session:
    """Build the row of the fork. A provisional title stays provisional, so that the next answer names the fork."""
    kept = {name: getattr(source, name) for name in _KEPT}
    is_provisional = not title and source.has_provisional_title
    if not title:
        title = source.title if source.is_unnamed else next_title(source.title)
    return Session(owner_id=source.owner_id, title=title, has_provisional_title=is_provisional, **kept)


def next_title(title: str) -> str:
    """Return the title with the next number: `Tides` is followed by `Tides (2)`, and that by `Tides (3)`."""
    numbered = _NUMBERED.match(title)
    base, number = (numbered[1], int(numbered[2]) + 1) if numbered else (title, 2)
    end = f" ({number})"
    return base[: MAX_TITLE - len(end)] + end


class _Copies:
    """Copies of the rows of a branch. ids: the new id of each message, turn, run, call and summary by the old id."""

    def __init__(self, fork: Session, branch: Sequence[UUID]) -> None:
        self.fork = fork
        self.branch = branch
        self.ids = {pk: uuid4() for pk in branch}
        self.below = dict(pairwise(branch))

    def store(self) -> None:
        """Store all rows but the session in the caller's transaction. Foreign keys are checked at the commit."""
        self.fork.leaf_id = self.ids[self.branch[-1]]
        for start in range(0, len(self.branch), CHUNK):
            self._store_chunk(self.branch[start : start + CHUNK])
        self._store_summaries()

    def _store_chunk(self, messages: Sequence[UUID]) -> None:
        statements.insert([self._message(row) for row in ChatMessage.objects.filter(pk__in=messages)])
        runs = list(Run.objects.filter(message__in=messages))
        calls = list(ToolCall.objects.filter(run__in=[run.pk for run in runs]))
        images = list(ToolCallImage.objects.filter(tool_call__in=[call.pk for call in calls]))
        turns = list(Turn.objects.filter(pk__in=[run.turn_id for run in runs]))
        self.ids |= {row.pk: uuid4() for rows in (turns, runs, calls) for row in rows}
        statements.insert([self._turn(row) for row in turns])
        statements.insert([self._run(row) for row in runs])
        statements.insert([self._call(row) for row in calls])
        # The copies share the files; a file is deleted with the last call that refers to it.
        ToolCallImage.objects.bulk_create(
            [renewed(row, pk=None, tool_call_id=self.ids[row.tool_call_id]) for row in images]
        )
        for model in _OF_MESSAGES:
            self._copy_related(model.objects.filter(message__in=messages))
        # The original of an edited answer is on another branch, which is not copied.
        self._copy_related(EditedAnswer.objects.filter(message__in=messages), original_id=None)

    def _message(self, row: ChatMessage, **changes: Any) -> ChatMessage:
        below = self.below.get(row.pk)
        changes = {"latest_child_id": self.ids[below] if below else None} | changes
        return renewed(
            row,
            id=self.ids[row.pk],
            session_id=self.fork.pk,
            parent_id=self.ids[row.parent_id] if row.parent_id else None,
            client_message_id=None,
            request_digest="",
            **changes,
        )

    def _turn(self, row: Turn) -> Turn:
        return renewed(
            row,
            id=self.ids[row.pk],
            session_id=self.fork.pk,
            user_message_id=self.ids[row.user_message_id],
            after_id=None,
            origin_id=None,
            request_id="",
            api_token=None,
            ended_at=row.ended_at or row.created_at,
        )

    def _run(self, row: Run) -> Run:
        """Copy a run as the only one of its turn.
        Without a model configuration it cannot be continued, which would not be counted as usage."""
        return renewed(
            row,
            id=self.ids[row.pk],
            turn_id=self.ids[row.turn_id],
            message_id=self.ids[row.message_id],
            model_index=0,
            model_config_id=None,
            is_imported=True,
            owner=None,
            history=[],
            announced_at=row.announced_at or row.ended_at,
        )

    def _call(self, row: ToolCall) -> ToolCall:
        return renewed(
            row,
            id=self.ids[row.pk],
            run_id=self.ids[row.run_id],
            message_id=self.ids[row.message_id] if row.message_id else None,
            parent_tool_call_id=self.ids[row.parent_tool_call_id] if row.parent_tool_call_id else None,
        )

    def _copy_related(self, rows: QuerySet[Any], **changes: Any) -> None:
        rows.bulk_create(
            [renewed(row, pk=None, message_id=self.ids[row.message_id], **changes) for row in rows]
        )

    def _store_summaries(self) -> None:
        """Store the summaries that a turn on the branch may use, with their compressions, which name the windows."""
        summaries = list(
            ChatMessage.objects.filter(
                role=Role.SUMMARY, parent__in=self.branch, last_summarized_message__in=self.branch
            )
        )
        made = list(Compression.objects.filter(summary__in=summaries))
        self.ids |= {row.pk: uuid4() for row in (*summaries, *made)}
        copies = []
        for row in summaries:
            cutoff = self.ids[row.last_summarized_message_id] if row.last_summarized_message_id else None
            copies.append(self._message(row, last_summarized_message_id=cutoff))
        statements.insert(copies)
        statements.insert([self._compression(row) for row in made])

    def _compression(self, row: Compression) -> Compression:
        return renewed(
            row,
            id=self.ids[row.pk],
            session_id=self.fork.pk,
            parent_id=self.ids[row.parent_id],
            leaf_id=self.ids.get(row.leaf_id, self.ids[row.parent_id]),
            summary_id=self.ids[row.summary_id] if row.summary_id else None,
            request_id="",
            owner=None,
        )


def renewed(row: R, **changes: Any) -> R:
    """Change the row in memory into a new row with these values, not stored yet, and return it."""
    for name, value in changes.items():
        setattr(row, name, value)
    row._state.adding = True  # noqa: SLF001  Django's documented way to copy a row
    return row
