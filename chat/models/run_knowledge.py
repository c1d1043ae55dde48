"""RunKnowledgeFields: the knowledge bases that a run may search, and how much of them its model may see."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class KnowledgeAccess(models.TextChoices):
    FULL = "full"
    RESTRICTED = "restricted"


class RunKnowledgeFields(models.Model):
    """Decided when the turn starts, by the server alone.

    knowledge_bases: ids, in the order of the prompt.  are_bases_picked: with the question; then they alone are searched.
    knowledge_access: to all of them together, as the roles of the session's owner allow it.
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
        """Whether its model may see nothing of its knowledge bases but what a secondary model makes of it; also if unclear."""
        return bool(self.knowledge_bases) and self.knowledge_access != KnowledgeAccess.FULL
