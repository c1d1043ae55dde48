"""PromptBlock: a text that stays at its place in the branch, right above a user message."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import models

from chat.models.message import ChatMessage
from chat.models.sql.messages import LATEST_BLOCKS


class BlockKind(models.TextChoices):
    AGENT = "CA", "agent prompt"
    PROJECT = "P", "project documents"
    DYNAMIC = "D", "dynamic context"


class PromptBlockQuerySet(models.QuerySet["PromptBlock"]):
    # Mutators

    def store(self, blocks: Sequence[PromptBlock]) -> None:
        """Store blocks above their messages, replacing those of the same kind."""
        self.bulk_create(
            blocks,
            update_conflicts=True,
            unique_fields=["message", "kind"],
            update_fields=["text", "token_count", "documents"],
        )

    # Queries

    def latest_on_branch(self, message: ChatMessage) -> dict[str, str]:
        """Return the texts that are in force at `message`, by kind."""
        return {block.kind: block.text for block in LATEST_BLOCKS.all(leaf=message.pk)}


class PromptBlock(models.Model):
    """Only for agents with context_layout append_only: stored when the text differs from the branch's latest.

    An empty text revokes the block further up.
    """

    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="prompt_blocks")
    kind = models.CharField(max_length=2, choices=BlockKind.choices)
    text = models.TextField(blank=True)
    # In the default encoding.
    token_count = models.IntegerField(default=0)
    # For project documents: number, document_id and title of each, in the order of the text.
    documents = models.JSONField(default=list, blank=True)

    objects = PromptBlockQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "kind"], name="one_prompt_block_per_kind"),
            models.CheckConstraint(
                condition=models.Q(kind__in=BlockKind.values), name="prompt_block_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} above {self.message_id}"
