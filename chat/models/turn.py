"""Turn: one user message being answered; it has one run per model."""

import uuid
from typing import Any, NamedTuple

from django.db import models

from chat.models.message import ChatMessage
from chat.models.session import IS_UNNAMED, Session, SessionEvent
from chat.models.sql import statements
from chat.protocol.states import LIVE


class Standing(NamedTuple):
    """A turn that has not ended: statuses of its runs, whether all of them are announced, whether any turn waits,
    whether its session has no title that stays."""

    id: uuid.UUID
    statuses: list[str]
    is_announced: bool
    has_followers: bool
    is_untitled: bool


# Of the run that is given.
STANDING = f"""
    SELECT turn.id, array_agg(run.status), bool_and(run.announced_at IS NOT NULL),
        EXISTS (SELECT FROM chat_turn AS follower WHERE follower.after_id = turn.id),
        EXISTS (
            SELECT FROM chat_session AS session
            WHERE session.id = turn.session_id AND {IS_UNNAMED}
        )
    FROM chat_turn AS turn JOIN chat_run AS run ON run.turn_id = turn.id
    WHERE turn.id = (SELECT turn_id FROM chat_run WHERE id = %(run)s) AND turn.ended_at IS NULL
    GROUP BY turn.id
"""  # noqa: S608  constants alone
_LIVE = ", ".join(f"'{status}'" for status in sorted(LIVE))
# The turn that must end before a reply to the answer of `run` can start: its own, or the one that waits for.
BLOCKER = f"""
    CASE
        WHEN run.status IN ({_LIVE}) THEN turn.id
        WHEN above.ended_at IS NULL THEN above.id
    END
"""
_BLOCKING = f"""
    SELECT {BLOCKER}
    FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
    LEFT JOIN chat_turn AS above ON above.id = turn.after_id
    WHERE run.message_id = %(answer)s
"""  # noqa: S608  no values
_END = "UPDATE chat_turn SET ended_at = STATEMENT_TIMESTAMP() WHERE id = %(turn)s RETURNING id"


class TurnQuerySet(models.QuerySet["Turn"]):
    # Mutators

    def end(self, pk: Any, session: Session, payload: dict[str, Any]) -> SessionEvent:
        """Its last run is announced. Returns `overall_stop` with this payload, to be published.

        The caller holds the session's lock.
        """
        return session.record("overall_stop", payload, (_END, {"turn": pk}))

    # Queries

    def blocking(self, answer_id: Any) -> "Turn | None":
        """The turn that must end before a reply to this message can start: its own, or the one that waits for."""
        row = statements.first(_BLOCKING, {"answer": answer_id})
        return self.select_related("after").get(pk=row[0]) if row and row[0] else None


class Turn(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    user_message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="turns")
    # The turn this one waits for (while_answering = enqueue); its runs are not claimed before that has ended.
    after = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # When overall_stop was recorded; None while any run of the turn has not announced its end.
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "id")
        indexes = [
            # Which sessions are being answered, for lists of them.
            models.Index(fields=["session"], name="turn_in_progress", condition=models.Q(ended_at=None)),
            models.Index(fields=["created_at"], name="turn_by_age"),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk}"
