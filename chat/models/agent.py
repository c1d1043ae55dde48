"""Agent: a prompt, tools and models under one name, for the sessions of its owner and of those it is shared with."""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from chat.models.run_options import NO_OPTIONS, options_are_known
from knowledge.models.owned_row import OwnedQuerySet, OwnedRow, ReferencedRow


class ContextLayout(models.TextChoices):
    """The place of the agent's prompt, project documents and dynamic context."""

    MOVING = "moving"  # above the newest user message
    APPEND_ONLY = "append_only"  # stored in the branch as PromptBlocks, again only when they change


class AgentQuerySet(OwnedQuerySet["Agent"]):
    def usable_by(self, user: Any) -> Self:
        """Select the user's own agents, and agents that active owners share with the user or a group of the user."""
        own = Agent.objects.visible_to(user).order_by().values("pk")
        groups = Group.objects.filter(user=user).values("pk")
        shared = Agent.objects.filter(owner__is_active=True).order_by().values("pk")
        by_group, by_name = shared.filter(shared_with__in=groups), shared.filter(shared_with_users=user)
        return self.filter(pk__in=own.union(by_group, by_name))


class Agent(OwnedRow, ReferencedRow):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=200)
    # Shown to people where they choose an agent.
    emoji = models.CharField(max_length=16, blank=True, default="", db_default="")
    description = models.CharField(max_length=300, blank=True, default="", db_default="")
    questions = ArrayField(
        models.CharField(max_length=200),
        default=list,
        db_default=[],
        blank=True,
        help_text="What the page of a new chat with it suggests to ask.",
    )
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
    # Run options of its chats, unless the chats or their turns set others (chat/transcript/answer_settings.py).
    options = models.JSONField(default=dict, db_default=NO_OPTIONS, blank=True)
    context_layout = models.CharField(
        max_length=11, choices=ContextLayout.choices, default=ContextLayout.MOVING
    )
    # Their members use and read it; their own roles decide what it searches of knowledge bases (decision 0031).
    shared_with = models.ManyToManyField(
        Group, blank=True, related_name="agents", help_text="Groups whose members may use it."
    )
    shared_with_users = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="agents_of_others",
        help_text="People who may use it, beside those groups.",
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
            options_are_known("agent"),
            models.CheckConstraint(
                condition=Q(context_layout__in=ContextLayout.values), name="agent_context_layout_known"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="agent_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
