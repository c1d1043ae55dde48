"""TipSnapshot: what a send must know before it stores anything, read in one statement.

It holds the tip of the current branch, the turn that a reply to it waits for, how many runs are in progress, the models
that may answer, and what the owner has used today.

The statement takes no lock. Every change that could make the snapshot wrong records an event of the session, so
storing checks `latest_event` again (chat/turns/insert.py); under the session's lock the snapshot cannot become stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from msgspec import json

from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.session import Session
from chat.models.sql.statements import instance
from chat.models.sql.turns import READ_TIP_SNAPSHOT
from chat.models.usage import DailyAccount


class TipSnapshot(NamedTuple):
    latest_event: int  # the session's, when the snapshot was read
    agent_id: UUID | None  # the session's: the caller may have loaded the session with an earlier agent
    own_models: Sequence[str]  # the session's; as agent_id
    preferred: Sequence[str]  # models that the session's owner has chosen for all chats
    own_runs: int  # in progress, of the session's owner
    queued_runs: Mapping[str, int]  # of all users, by queue; exact up to MAX_QUEUED_RUNS
    stored_bytes: int  # of the session's owner, as the sweeper has summed it up last
    blocker_id: UUID | None  # the turn that must end before a reply to the tip can start
    is_repeat: bool  # a message with this client_message_id is stored already
    tip: ChatMessage | None  # its place in the tree alone; None: the session has no leaf
    # Enabled ones: those named and preferred first, then the default; only the columns that a new run needs.
    models: Sequence[ModelConfig]
    account: DailyAccount  # the owner's, today

    @classmethod
    def read(
        cls, session: Session, model_names: Sequence[str] | None, client_message_id: str | None
    ) -> TipSnapshot | None:
        """Read the snapshot; None if the session is gone.
        model_names: the models to look for beside the owner's preferred ones; None: the default model.
        """
        rows = READ_TIP_SNAPSHOT.all(
            session=session.pk,
            owner=session.owner_id,
            names=None if model_names is None else list(model_names),
            most=max(1, len(model_names or ())),
            client_message_id=client_message_id,
            most_queued=settings.MAX_QUEUED_RUNS,
        )
        if not rows:
            return None
        first = rows[0]
        return cls(
            first.latest_event,
            first.agent_id,
            first.own_models,
            first.preferred,
            first.own_runs,
            json.decode(first.queued_runs),
            first.stored_bytes,
            first.blocker_id,
            first.is_repeat,
            tip=instance(ChatMessage, first.tip) if first.tip else None,
            models=[instance(ModelConfig, row.model) for row in rows if row.model],
            account=DailyAccount.from_row(first.account),
        )
