"""AgUiRun: which run a frontend means by the id that it has chosen, so that the same request again joins it."""

from __future__ import annotations

from django.db import models

from chat.models import Run, Session

MAX_NAME_CHARACTERS = 200


class AgUiRun(models.Model):
    """name: the `runId` of a request.  run: of the turn that it has started, or whose interrupts it has answered."""

    # The constraints are of SQL, ON DELETE CASCADE: the version before deletes both, and knows no such rows.
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    name = models.CharField(max_length=MAX_NAME_CHARACTERS)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_constraint=False)

    class Meta:
        app_label = "chat"
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="one_run_per_agui_name")]

    def __str__(self) -> str:
        return f"{self.name} of {self.run_id}"
