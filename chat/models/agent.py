"""Agent: a prompt, tools and models under one name, for the sessions of its owner."""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from knowledge.models.referenced_row import ReferencedRow


class ContextLayout(models.TextChoices):
    """Where the agent's prompt, project documents and dynamic context stand."""

    MOVING = "moving"  # above the newest user message
    APPEND_ONLY = "append_only"  # stored in the branch as PromptBlocks, again only when they change


class AgentQuerySet(models.QuerySet["Agent"]):
    def visible_to(self, user: Any) -> Self:
        """The user's own agents; agents of other users are not visible."""
        return self.filter(owner=user)

    def after(self, agent: Agent) -> Self:
        """Those behind `agent` in the order of lists."""
        older = Q(updated_at__lt=agent.updated_at)
        return self.filter(older | Q(updated_at=agent.updated_at, pk__lt=agent.pk))


class Agent(ReferencedRow):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=200)
    prompt = models.TextField(blank=True, default="")
    replaces_system_prompt = models.BooleanField(
        default=False, help_text="The prompt is the whole system prompt; an empty one means there is none."
    )
    reminder = models.TextField(blank=True, default="", help_text="Stands last in every request.")
    tools = models.JSONField(default=list, blank=True, help_text="Names of the tools it may use.")
    knowledge_bases = ArrayField(
        models.UUIDField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Ids of those that its chats search, in their order.",
    )
    context_layout = models.CharField(
        max_length=11, choices=ContextLayout.choices, default=ContextLayout.MOVING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    # The last field: below it the name `models` refers to this field, not to the module.
    models = models.JSONField(
        default=list, blank=True, help_text="Names of the models that answer; empty: the default model."
    )

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        indexes = [models.Index(fields=["owner", "-updated_at", "-id"], name="agent_by_owner")]
        constraints = [
            models.CheckConstraint(
                condition=Q(context_layout__in=ContextLayout.values), name="agent_context_layout_known"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="agent_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    # Mutators

    def change(self, **fields: Any) -> bool:
        """Set what the owner may edit, in the row and here. False: the row was deleted."""
        fields["updated_at"] = timezone.now()
        for name, value in fields.items():
            setattr(self, name, value)
        return bool(type(self).objects.filter(pk=self.pk).update(**fields))
