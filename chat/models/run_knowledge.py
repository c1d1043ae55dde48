"""RunKnowledgeFields: the knowledge bases that a run may search, and how much of them its model may see."""

from typing import NamedTuple
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models


class KnowledgeAccess(models.TextChoices):
    FULL = "full"
    RESTRICTED = "restricted"


class RunKnowledge(NamedTuple):
    """The values of RunKnowledgeFields."""

    knowledge_bases: list[UUID]
    are_bases_picked: bool
    knowledge_access: str


class RunKnowledgeFields(models.Model):
    """The server alone decides these fields, when the turn starts.

    knowledge_bases: ids, in the order of the prompt.  are_bases_picked: whether they were picked with the question;
    then they alone are searched.  knowledge_access: the access to all of them together that the roles of the session's
    owner allow.
    """

    knowledge_bases = ArrayField(models.UUIDField(), default=list, db_default=[], blank=True)
    are_bases_picked = models.BooleanField(default=False, db_default=False)
    knowledge_access = models.CharField(
        max_length=10, choices=KnowledgeAccess.choices, blank=True, default="", db_default=""
    )

    class Meta:
        abstract = True

    @property
    def is_restricted(self) -> bool:
        """Whether its model may see its knowledge bases only as a secondary model renders them; also if unclear."""
        return bool(self.knowledge_bases) and self.knowledge_access != KnowledgeAccess.FULL
