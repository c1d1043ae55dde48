"""PromptBlock: a text that stands at its place in the branch for good, right above a user message."""

from django.db import models

from chat.models.message import ChatMessage


class BlockKind(models.TextChoices):
    AGENT = "CA", "agent prompt"
    PROJECT = "P", "project documents"
    DYNAMIC = "D", "dynamic context"


class PromptBlock(models.Model):
    """Only for agents with context_layout append_only: stored when the text differs from the branch's latest.

    An empty text says that what stood further up is not there any more.
    """

    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="prompt_blocks")
    kind = models.CharField(max_length=2, choices=BlockKind.choices)
    text = models.TextField(blank=True)
    # In the default encoding.
    token_count = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "kind"], name="one_prompt_block_per_kind"),
            models.CheckConstraint(
                condition=models.Q(kind__in=BlockKind.values), name="prompt_block_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} above {self.message_id}"
