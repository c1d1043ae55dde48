"""ToolCallImage: an image that a tool call returned; models that see read it after the responses of its round."""

from __future__ import annotations

from typing import Self

from django.db import models

from chat.models.tool_call import ToolCall, ToolCallStatus
from knowledge.models import File, FileStatus


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
