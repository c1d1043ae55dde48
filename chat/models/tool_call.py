"""ToolCall: one tool call of a model, and its outcome."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Self

from django.db import models
from django.db.models import Count, Q
from django.utils import timezone

from chat.models.message import ChatMessage
from chat.models.run import Run
from knowledge.models import File, FileStatus


class ToolCallStatus(models.TextChoices):
    PENDING = "pending"  # the program that asked carries it out
    WAITING = "waiting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


# The response of a call whose output is empty: without one, a call has not ended.
NO_OUTPUT: Final = "(no output)"
OPEN_STATUSES: Final = (ToolCallStatus.PENDING, ToolCallStatus.RUNNING)
# How long a call counts where the tools that are used most are chosen.
USES_COUNTED: Final = timedelta(days=30)


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    def abandon(
        self, run_id: Any, reports: Mapping[str, tuple[str, str]], *, hands_over: bool = False
    ) -> None:
        """Mark the unfinished calls of an ended run as unknown, and those that waited for approval as refused.

        reports: by row, the report and reasoning of agent tools that clients were shown.
        hands_over: the calls of the caller's tools stay pending.
        """
        open_statuses = [ToolCallStatus.RUNNING] if hands_over else OPEN_STATUSES
        unfinished = self.filter(run=run_id, status__in=open_statuses)
        for row, (report, reasoning) in reports.items():
            unfinished.filter(pk=row).update(report=report, report_reasoning=reasoning)
        unfinished.update(status=ToolCallStatus.UNKNOWN)
        self.filter(run=run_id, status=ToolCallStatus.WAITING).update(status=ToolCallStatus.REFUSED)

    def note_outputs(self, run: Run, outputs: Mapping[str, str]) -> bool:
        """Store what the caller's calls of an ended run returned, for all that follows it. The calls stay handed over.

        Called with the session's lock. Returns False if the run has handed over no such call, or the call has another
        output, which other branches have read.
        """
        pending = self.filter(run=run, status=ToolCallStatus.PENDING)
        texts = {call_id: output or NO_OUTPUT for call_id, output in outputs.items()}
        return all(
            pending.filter(tool_call_id=call_id, response__in=("", text)).update(response=text)
            for call_id, text in texts.items()
        )

    def with_later_outputs(self, run: Run) -> Self:
        """Select the calls of a run whose outputs came after its end, for what follows."""
        return self.filter(run=run, status=ToolCallStatus.PENDING).exclude(response="")

    def store_rounds(self, run: Run, calls: Sequence[ToolCall], images: Iterable[ToolCallImage] = ()) -> int:
        """Store ended calls as the first rounds of an answer that nobody writes yet. Returns the number of rounds.

        Called in the transaction that starts the run.  calls: with those inside agent tools.
        """
        texts: dict[int, str] = {}
        for row in calls:
            row.run = run
            if row.parent_tool_call_id is None:
                row.message_id = run.message_id
                texts.setdefault(row.turn_number, row.text_before)
        self.bulk_create(calls)
        ToolCallImage.objects.bulk_create(images)
        ChatMessage.objects.filter(pk=run.message_id).update(text="".join(texts.values()))
        return len(texts)

    def count_uses(self, user_id: int, names: Collection[str]) -> dict[str, int]:
        """Count the calls of each of these tools in the chats of a user, within USES_COUNTED."""
        recent = self.filter(
            run__turn__session__owner=user_id, created_at__gt=timezone.now() - USES_COUNTED, name__in=names
        )
        return dict(recent.order_by().values_list("name").annotate(Count("pk")))


class ToolCall(models.Model):
    """Top-level calls belong to the message, calls inside an agent tool to the row of that tool's call.

    Parallel calls share turn_number and parent and differ in tab_index.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tool_calls")
    message = models.ForeignKey(
        ChatMessage, null=True, blank=True, on_delete=models.CASCADE, related_name="tool_calls"
    )
    parent_tool_call = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    turn_number = models.SmallIntegerField()
    tab_index = models.SmallIntegerField(default=0)
    tool_call_id = models.CharField(max_length=200)
    name = models.CharField(max_length=64)
    arguments = models.JSONField(default=dict)
    response = models.TextField(blank=True, default="")
    # The documents that it found, best first: number, document_id, title, url and whatever else is known of each.
    documents = models.JSONField(default=list, blank=True)
    # The JSON that the tool returned beside the text, as its schema says; null: none.
    structured = models.JSONField(null=True, blank=True)
    # The report of an agent tool and the reasoning before it; calls inside it are `children`.
    report = models.TextField(blank=True, default="")
    report_reasoning = models.TextField(blank=True, default="")
    text_before = models.TextField(blank=True, default="")
    reasoning = models.TextField(blank=True, default="")
    # Durations of the reasoning and of the call; null: not measured.
    reasoning_ms = models.IntegerField(null=True, blank=True)
    duration_ms = models.IntegerField(null=True, blank=True)
    token_count = models.IntegerField(default=0)
    # For the first call of a round: SentBack as JSON. Never shown or exported.
    sent_back = models.JSONField(null=True, blank=True, editable=False)
    status = models.CharField(max_length=9, choices=ToolCallStatus.choices, default=ToolCallStatus.PENDING)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        ordering = ("turn_number", "tab_index", "created_at")
        indexes = [models.Index(fields=["created_at"], name="tool_call_by_age")]
        constraints = [
            models.CheckConstraint(
                condition=Q(message__isnull=False, parent_tool_call__isnull=True)
                | Q(message__isnull=True, parent_tool_call__isnull=False),
                name="tool_call_has_one_parent",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ToolCallStatus.values), name="tool_call_status_known"
            ),
            models.UniqueConstraint(
                fields=["message", "turn_number", "tab_index"], name="one_tool_call_per_place_in_message"
            ),
            models.UniqueConstraint(
                fields=["parent_tool_call", "turn_number", "tab_index"],
                name="one_tool_call_per_place_in_tool_call",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.tool_call_id}"


class ToolCallImageQuerySet(models.QuerySet["ToolCallImage"]):
    def visible(self) -> Self:
        """Select images that have been read, of calls that have completed; joins the files, but without their texts."""
        ready = self.filter(file__status=FileStatus.READY, tool_call__status=ToolCallStatus.COMPLETED)
        return ready.select_related("file").defer("file__text")


class ToolCallImage(models.Model):
    """A trigger deletes a file with the last row that refers to it: the calls of a fork share the original's files."""

    # The constraint has the index.
    tool_call = models.ForeignKey(ToolCall, on_delete=models.CASCADE, related_name="images", db_index=False)
    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="tool_calls")
    position = models.SmallIntegerField()

    objects = ToolCallImageQuerySet.as_manager()

    class Meta:
        ordering = ("tool_call", "position")
        constraints = [
            models.UniqueConstraint(fields=["tool_call", "position"], name="one_tool_image_per_position")
        ]

    def __str__(self) -> str:
        return f"{self.file_id} of {self.tool_call_id}"
