"""What belongs to a message beside its text: CitedDocument, EditedAnswer and PromptBlock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import models

from chat.models.message import ChatMessage
from chat.models.role import Role
from chat.models.run import run_of
from chat.models.sql.messages import LATEST_BLOCKS
from chat.transcript.entries import Document

MAX_ID_CHARACTERS = 500


class CitedDocumentQuerySet(models.QuerySet["CitedDocument"]):
    def keep(self, message_id: Any, documents: Iterable[Document]) -> None:
        """Keep the documents that the message links to, and delete the other rows. May be repeated.

        Called with every checkpoint of an answer that cites more than the one before, and at its end. An attempt that
        starts over may cite other documents under the same numbers.
        """
        rows = [
            self.model(
                message_id=message_id,
                number=document.number,
                document_id=document.document_id[:MAX_ID_CHARACTERS],
                title=document.title,
                url=document.url,
            )
            for document in documents
        ]
        self.filter(message=message_id).exclude(number__in=[row.number for row in rows]).delete()
        self.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["message", "number"],
            update_fields=["document_id", "title", "url"],
        )


class CitedDocument(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="citations")
    number = models.IntegerField()
    document_id = models.CharField(max_length=MAX_ID_CHARACTERS)
    title = models.TextField(blank=True, default="")
    url = models.TextField(blank=True, default="")

    objects = CitedDocumentQuerySet.as_manager()

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="one_citation_per_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="citation_number_positive"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.title}"


class EditedAnswerQuerySet(models.QuerySet["EditedAnswer"]):
    def by_message(self, messages: Iterable[ChatMessage]) -> dict[UUID, EditedAnswer]:
        """Return the edited answers among these messages, by message id.
        `run` should be joined: an edited answer has no run, so mostly no query is needed.
        """
        without_run = [one.pk for one in messages if one.role == Role.ASSISTANT and run_of(one) is None]
        return {one.message_id: one for one in self.filter(message__in=without_run)} if without_run else {}


class EditedAnswer(models.Model):
    message = models.OneToOneField(ChatMessage, on_delete=models.CASCADE, related_name="edited")
    # A sibling; null: it is not in this session, as in a fork.
    original = models.ForeignKey(
        ChatMessage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The model that wrote the original text; empty: unknown.
    model = models.CharField(max_length=200, blank=True, default="")

    objects = EditedAnswerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"edited answer {self.message_id}"


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
