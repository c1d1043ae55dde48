"""Share: a public link to one branch of a session as it was when it was shared."""

from __future__ import annotations

import uuid
from hashlib import sha256
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from chat.models.message import ChatMessage
from chat.models.session import Session

# Of a link's token: 40 digits of hexadecimal, 160 bits.
TOKEN_CHARACTERS = 40


def token_of(share_id: uuid.UUID) -> str:
    """The secret of the link, derived from the id of the row and the SECRET_KEY."""
    key = settings.SECRET_KEY
    return salted_hmac("chat.share", str(share_id), secret=key, algorithm="sha256").hexdigest()[
        :TOKEN_CHARACTERS
    ]


def digest_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


class ShareQuerySet(models.QuerySet["Share"]):
    # Factories

    def start(self, leaf: ChatMessage, *, shows_details: bool) -> Share:
        """A new link to the branch that ends in `leaf`."""
        pk = uuid.uuid4()
        return self.create(
            pk=pk,
            session_id=leaf.session_id,
            leaf=leaf,
            shows_details=shows_details,
            digest=digest_of(token_of(pk)),
        )

    # Queries

    def visible_to(self, user: Any) -> Self:
        return self.filter(session__owner=user)

    def open(self) -> Self:
        """Without the revoked ones."""
        return self.filter(revoked_at=None)

    def behind(self, token: str) -> Share | None:
        """The share with this token; None if there is none or it is revoked."""
        return self.open().select_related("session").filter(digest=digest_of(token)).first()


class Share(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="shares")
    # What is below it, or beside it, is not shown.
    leaf = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    shows_details = models.BooleanField(
        default=False, help_text="Reasoning, and what tools were asked and answered."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"share {self.pk}"

    # Mutators

    def change(self, **fields: Any) -> None:
        """Set leaf or shows_details."""
        type(self).objects.filter(pk=self.pk).update(**fields)
        for name, value in fields.items():
            setattr(self, name, value)

    def revoke(self) -> None:
        """Disable the link. Idempotent."""
        type(self).objects.open().filter(pk=self.pk).update(revoked_at=timezone.now())

    # Properties

    @property
    def token(self) -> str | None:
        """The token of the link; None if SECRET_KEY has changed since: the link works, but cannot be shown again."""
        token = token_of(self.pk)
        return token if constant_time_compare(digest_of(token), self.digest) else None
