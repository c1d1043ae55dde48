"""Share: a public link to one branch of a session as it was when it was shared."""

from __future__ import annotations

import uuid
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from chat.models.message import ChatMessage
from chat.models.session import Session
from chat.models.sql.shares import SIZES

# The length of a link's token: 40 digits of hexadecimal, 160 bits.
TOKEN_CHARACTERS = 40
# The limits of one page of a shared branch, unless a single message is larger.
PAGE_MESSAGES: Final = 100
PAGE_BYTES: Final = 512 * 1024


class SharedPage(NamedTuple):
    """Consecutive messages of a shared branch. last: the id of the last of them."""

    last: str
    messages: int


def token_of(share_id: uuid.UUID) -> str:
    """Return the secret of the link, derived from the id of the row and the SECRET_KEY."""
    key = settings.SECRET_KEY
    return salted_hmac("chat.share", str(share_id), secret=key, algorithm="sha256").hexdigest()[
        :TOKEN_CHARACTERS
    ]


def digest_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def divide(leaf_id: uuid.UUID) -> list[SharedPage]:
    """Divide the branch that ends in this message into pages, oldest first. Reads sizes of messages, not texts."""
    pages: list[SharedPage] = []
    page_bytes = 0
    for row in SIZES.all(leaf=leaf_id):
        if pages and pages[-1].messages < PAGE_MESSAGES and page_bytes + row.size_bytes <= PAGE_BYTES:
            pages[-1] = SharedPage(str(row.id), pages[-1].messages + 1)
            page_bytes += row.size_bytes
        else:
            pages.append(SharedPage(str(row.id), 1))
            page_bytes = row.size_bytes
    return pages


class ShareQuerySet(models.QuerySet["Share"]):
    # Factories

    def start(self, leaf: ChatMessage, *, shows_details: bool, expires_at: datetime | None = None) -> Share:
        """Store a new link to the branch that ends in `leaf`. expires_at: None for a link without an end."""
        pk = uuid.uuid4()
        return self.create(
            pk=pk,
            session_id=leaf.session_id,
            leaf=leaf,
            title=leaf.session.title,
            pages=divide(leaf.pk),
            shows_details=shows_details,
            expires_at=expires_at,
            digest=digest_of(token_of(pk)),
        )

    # Queries

    def visible_to(self, user: Any) -> Self:
        return self.filter(session__owner=user, session__deleted_at=None)

    def open(self) -> Self:
        """Exclude revoked shares."""
        return self.filter(revoked_at=None)

    def behind(self, token: str) -> Share | None:
        """Return the share with this token; None if there is none, it is revoked or expired, its session is in the trash,
        or its owner is deactivated."""
        readable = self.open().filter(session__owner__is_active=True, session__deleted_at=None)
        readable = readable.exclude(expires_at__lte=timezone.now())
        return readable.select_related("session").filter(digest=digest_of(token)).first()


class Share(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="shares")
    # Messages below it, or beside it, are not shown.
    leaf = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="+")
    # The title of the session when it was shared; null for rows of an older release, which wrote none.
    title = models.CharField(max_length=200, null=True, blank=True, editable=False)  # noqa: DJ001
    # As divide() returns them, so that reading a page need not walk the branch; null for rows of an older release.
    pages = models.JSONField(null=True, blank=True, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    shows_details = models.BooleanField(
        default=False, help_text="Reasoning, and what tools were asked and answered."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Null: no end. Its owner still sees an expired link, and can give it another end.
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"share {self.pk}"

    # Mutators

    def change(self, **fields: Any) -> None:
        """Set leaf (and with it the pages), title, shows_details or expires_at."""
        if "leaf" in fields:
            fields["pages"] = divide(fields["leaf"].pk)
        type(self).objects.filter(pk=self.pk).update(**fields)
        for name, value in fields.items():
            setattr(self, name, value)

    def revoke(self) -> None:
        """Disable the link. Idempotent."""
        type(self).objects.open().filter(pk=self.pk).update(revoked_at=timezone.now())

    # Queries

    def read_pages(self) -> list[SharedPage]:
        """Return its pages, oldest first; computes and stores them if an older release created or moved the share."""
        pages = [SharedPage(*page) for page in self.pages or ()]
        if not pages or pages[-1].last != str(self.leaf_id):
            pages = self.pages = divide(self.leaf_id)
            type(self).objects.filter(pk=self.pk, leaf=self.leaf_id).update(pages=pages)
        return pages

    # Properties

    @property
    def shown_title(self) -> str:
        """The title when it was shared. Its session is loaded."""
        return self.session.title if self.title is None else self.title

    @property
    def token(self) -> str | None:
        """The token of the link; None if SECRET_KEY has changed since: the link works, but cannot be shown again."""
        token = token_of(self.pk)
        return token if constant_time_compare(digest_of(token), self.digest) else None
