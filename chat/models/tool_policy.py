"""ToolPolicy: when calls of one tool need the approval of the user whose answer makes them."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q

from chat.transcript.tool_annotations import DEFAULT_RULE, ApprovalRule


class ToolPolicyQuerySet(models.QuerySet["ToolPolicy"]):
    def rules(self, names: Iterable[str]) -> dict[str, ApprovalRule]:
        """Return the rules by tool name; tools without a rule are left out."""
        rows = self.filter(name__in=list(names)).values_list("name", "approval")
        return {name: ApprovalRule(rule) for name, rule in rows}


class ToolPolicy(models.Model):
    name = models.CharField(max_length=64, unique=True, help_text="The name that models call the tool by.")
    approval = models.CharField(
        max_length=20,
        choices=[(rule.value, rule.value.replace("_", " ")) for rule in ApprovalRule],
        default=DEFAULT_RULE.value,
        help_text="Whether the user is asked before the tool is called.",
    )

    objects = ToolPolicyQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "tool policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(approval__in=[rule.value for rule in ApprovalRule]),
                name="tool_policy_approval_known",
            )
        ]

    def __str__(self) -> str:
        return self.name
