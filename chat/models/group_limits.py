"""GroupLimits: what the users of a group may use in a day, instead of the deployment's settings (decision 0088)."""

from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

_WORDS = "Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts."


class GroupLimits(models.Model):
    group = models.OneToOneField(Group, primary_key=True, on_delete=models.CASCADE, related_name="limits")
    runs_per_day = models.BigIntegerField(null=True, blank=True, help_text=_WORDS)
    tokens_per_day = models.BigIntegerField(null=True, blank=True, help_text=_WORDS)
    cost_per_day = models.DecimalField(
        max_digits=18, decimal_places=6, null=True, blank=True, help_text=_WORDS
    )

    class Meta:
        verbose_name = "limits of a group"
        verbose_name_plural = "limits of groups"
        constraints = [
            models.CheckConstraint(
                condition=(Q(runs_per_day__isnull=True) | Q(runs_per_day__gte=0))
                & (Q(tokens_per_day__isnull=True) | Q(tokens_per_day__gte=0))
                & (Q(cost_per_day__isnull=True) | Q(cost_per_day__gte=0)),
                name="group_limits_not_negative",
            )
        ]

    def __str__(self) -> str:
        return f"limits of {self.group}"
