"""ResponseRequest: what a request for a response says that no turn does. It is sent back with the response."""

from __future__ import annotations

from django.db import models

from chat.models import Run


class ResponseRequest(models.Model):
    # The constraint is of SQL, ON DELETE CASCADE: the version before deletes runs, and knows no such rows.
    run = models.OneToOneField(
        Run,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="response_request",
        db_constraint=False,
    )
    # As it was named: a model, or an agent.
    model = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    is_background = models.BooleanField(default=False)
    # The run whose calls this one has the outputs of; null: what it continues is above its question.
    previous = models.UUIDField(null=True, blank=True)

    class Meta:
        app_label = "chat"

    def __str__(self) -> str:
        return f"request of {self.run_id}"
