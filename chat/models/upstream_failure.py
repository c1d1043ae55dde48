"""The columns of Run and Compression that keep what a model server said when it failed. For staff alone."""

from __future__ import annotations

from typing import Any

from django.db import models

from chat.protocol.errors import MAX_CODE_CHARACTERS, UpstreamError


class UpstreamFailureFields(models.Model):
    """Empty without a failure of the model server; redacted and capped before they get here."""

    upstream_status = models.SmallIntegerField(
        null=True, blank=True, help_text="The HTTP status of the model server's error."
    )
    upstream_code = models.CharField(
        max_length=MAX_CODE_CHARACTERS,
        blank=True,
        default="",
        db_default="",
        help_text="The model server's own error code or type.",
    )
    upstream_message = models.TextField(
        blank=True, default="", db_default="", help_text="What the model server said, without secrets."
    )

    class Meta:
        abstract = True

    @property
    def upstream_error(self) -> UpstreamError:
        return UpstreamError(self.upstream_status, self.upstream_code, self.upstream_message)


def upstream_columns(error: UpstreamError) -> dict[str, Any]:
    """Return the values of the columns."""
    return {
        "upstream_status": error.status,
        "upstream_code": error.code,
        "upstream_message": error.message,
    }
