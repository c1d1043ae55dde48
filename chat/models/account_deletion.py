"""AccountDeletion: a deactivated account, whose rows the sweeper deletes, and at last the account itself."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AccountDeletion(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="deletion"
    )
    requested_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"deletion of account {self.pk}"
