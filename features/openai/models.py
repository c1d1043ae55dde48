"""What requests say that no turn and no session does, and that is sent back: of responses, and of conversations."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import models

from chat.models import Run, Session


class RequestMembers(NamedTuple):
    """What a request says. model: as it was named: a model, or an agent; empty: not at all."""

    model: str = ""
    metadata: dict[str, str] = {}
    is_background: bool = False


class ResponseRequestManager(models.Manager["ResponseRequest"]):
    def store_part(self, run: Run, part: int, members: RequestMembers) -> None:
        """Store what the request for a later part of a run says. The caller has locked the run."""
        request, _ = self.get_or_create(run=run)
        self.filter(pk=run.pk).update(later={**request.later, str(part): members._asdict()})

    def read(self, run: Run, part: int) -> RequestMembers:
        """Read what the request for a part says; where there was none, it is as the first one."""
        request = self.filter(pk=run.pk).first()
        return request.members_of(part) if request else RequestMembers()


class ResponseRequest(models.Model):
    # The constraint is of SQL, ON DELETE CASCADE: the version before deletes runs, and knows no such rows.
    run = models.OneToOneField(
        Run,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="response_request",
        db_constraint=False,
    )
    # As it was named: a model, or an agent.
    model = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    is_background = models.BooleanField(default=False)
    # The run whose calls this one has the outputs of; null: what it continues is above its question.
    previous = models.UUIDField(null=True, blank=True)
    # What the requests say that answered approvals, by the number of the part that they asked for.
    later = models.JSONField(default=dict, db_default={}, blank=True)

    objects = ResponseRequestManager()

    class Meta:
        app_label = "chat"

    def __str__(self) -> str:
        return f"request of {self.run_id}"

    def members_of(self, part: int) -> RequestMembers:
        first = RequestMembers(self.model, self.metadata, self.is_background)
        later: dict[str, Any] | None = self.later.get(str(part))
        return RequestMembers(**later | {"model": later["model"] or first.model}) if later else first


class ConversationMetadataManager(models.Manager["ConversationMetadata"]):
    def store(self, session: Session, metadata: dict[str, str]) -> None:
        """Store the metadata in the place of what there was."""
        self.update_or_create(session=session, defaults={"metadata": metadata})

    def read(self, session: Session) -> dict[str, str]:
        row = self.filter(pk=session.pk).first()
        return row.metadata if row else {}


class ConversationMetadata(models.Model):
    """The metadata of a conversation; one without has no row."""

    # As above: the version before deletes sessions, and knows no such rows.
    session = models.OneToOneField(
        Session, on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    metadata = models.JSONField(default=dict, blank=True)

    objects = ConversationMetadataManager()

    class Meta:
        app_label = "chat"

    def __str__(self) -> str:
        return f"metadata of {self.session_id}"
