"""Invitation: lets people without an account make one, by a link whose text is stored nowhere."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


def digest_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


class InvitationQuerySet(models.QuerySet["Invitation"]):
    # Mutators

    def use(self, pk: int) -> bool:
        """Count a use; return whether there was one left."""
        return bool(self.usable().filter(pk=pk).update(uses=F("uses") + 1))

    # Queries

    def usable(self) -> Self:
        return self.filter(uses__lt=F("max_uses"), expires_at__gt=timezone.now())

    def behind(self, token: str) -> Invitation | None:
        """Return the usable invitation with this token; None if there is none."""
        return self.usable().filter(digest=digest_of(token)).first()


class Invitation(models.Model):
    digest = models.CharField(max_length=64, unique=True, editable=False)
    email = models.EmailField(
        blank=True, help_text="The link is sent there, and not shown. Empty: you give it to whom you invite."
    )
    group = models.ForeignKey(
        Group,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text="Those who register become members of it.",
    )
    max_uses = models.PositiveIntegerField(default=1, help_text="How many accounts may be made with it.")
    uses = models.PositiveIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=F("max_uses")), name="invitation_uses_within_max"),
            # Whoever opens the link is taken for the owner of the address.
            models.CheckConstraint(
                condition=Q(email="") | Q(max_uses=1), name="invitation_by_e_mail_is_for_one"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    # Mutators

    def new_token(self, user: Any) -> str:
        """Set the author and a new secret, and return the secret; the caller saves."""
        token = secrets.token_urlsafe(24)
        self.digest, self.created_by = digest_of(token), user
        return token
