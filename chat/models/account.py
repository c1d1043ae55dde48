"""Rows of accounts beside Django's user: Invitation, Preferences, Login, LoginLimit and AccountDeletion."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.models import Session as BrowserSession
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.models.sql.login_limits import PURGE, SPEND, USE, WAIT

if TYPE_CHECKING:
    from django.contrib.auth.models import User


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


class PreferencesManager(models.Manager["Preferences"]):
    def of_user(self, user: User) -> Preferences:
        """Return the user's preferences; defaults, which are not stored, if there are none."""
        return self.filter(user=user).first() or self.model(user=user)

    def change(self, user: User, **fields: Any) -> Preferences:
        """Store the fields; the others stay as they are."""
        row, _ = self.update_or_create(user=user, defaults=fields)
        return row


class Preferences(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="preferences"
    )
    # A section of the system prompt of the user's chats, unless it is switched off, which keeps the text.
    instructions = models.TextField(blank=True, default="", db_default="")
    uses_instructions = models.BooleanField(default=True, db_default=True)
    # Names of the models that answer chats for which neither the user nor an agent names any, as far as they are still
    # offered; without one, the default model. The last field: below it the name `models` refers to this field.
    models = ArrayField(models.CharField(max_length=200), default=list, db_default=[], blank=True)

    objects = PreferencesManager()

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of user {self.user_id}"


# The row of a login that is used all the time is written no more often than this.
PAUSE: Final = timedelta(minutes=5)
MAX_USER_AGENT: Final = 300


class LoginQuerySet(models.QuerySet["Login"]):
    # Mutators

    def use(self, session_key: str, user_id: int, user_agent: str, language: str = "") -> None:
        """Note that the login is used now. Writes nothing for a login that has ended or was noted a moment ago."""
        # Postgres stores no NUL.
        words = user_agent.replace("\0", "")[:MAX_USER_AGENT]
        USE.first(session=session_key, user=user_id, user_agent=words, language=language, pause=PAUSE)

    def end(self) -> int:
        """Delete the sessions, and with them these rows; return how many."""
        ended, _ = BrowserSession.objects.filter(pk__in=self.values("session")).delete()
        return ended

    # Queries

    def language_of(self, user: Any) -> str:
        """Return the language in which the user's account was last used, empty if none is known."""
        used = self.filter(user=user).exclude(language="").order_by("-used_at", "-pk")
        return used.values_list("language", flat=True).first() or ""

    def lasting(self) -> Self:
        """Select logins whose session has not expired, the last used first."""
        return self.filter(session__expire_date__gt=timezone.now()).order_by("-used_at", "-pk")


class Login(models.Model):
    # The key of a session is a credential: pages name the login by its own id.
    # The constraint, in the migration, deletes the row with the session, whoever deletes that.
    session = models.OneToOneField(
        BrowserSession, on_delete=models.DO_NOTHING, db_constraint=False, related_name="login"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="logins")
    # As the browser identifies itself.
    user_agent = models.CharField(max_length=MAX_USER_AGENT, blank=True)
    # The language of its pages; empty: unknown. E-mails to the account are in that of the login that was used last.
    language = models.CharField(max_length=16, blank=True, default="", db_default="")
    created_at = models.DateTimeField()
    used_at = models.DateTimeField()

    objects = LoginQuerySet.as_manager()

    def __str__(self) -> str:
        return f"login {self.pk}"


def purge_expired(rows: int) -> int:
    """Delete some expired sessions, of logins and of others; return how many."""
    expired: Any = BrowserSession.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    purged, _ = BrowserSession.objects.filter(
        pk__in=list(expired.values_list("pk", flat=True)[:rows])
    ).delete()
    return purged


KEY_CHARACTERS = 64


class Charge(NamedTuple):
    """One attempt from the bucket `key`, which holds `burst` attempts; one comes back every `pause`."""

    key: str
    pause: timedelta
    burst: int


class LoginLimitQuerySet(models.QuerySet["LoginLimit"]):
    def spend(self, charges: Sequence[Charge]) -> int | None:
        """Take one attempt from every bucket, or from none; return the seconds to wait, None if all had room."""
        empty = None
        with transaction.atomic():
            # In one order, so that two attempts never wait for each other.
            for charge in sorted(charges):
                if SPEND.first(**charge._asdict()) is None:
                    empty = charge
                    transaction.set_rollback(True)
                    break
        if empty is None:
            return None
        row = WAIT.first(**empty._asdict())
        return max(1, math.ceil(row.wait_s)) if row else 1

    def give_back(self, charges: Sequence[Charge]) -> None:
        for charge in sorted(charges):
            self.filter(key=charge.key).update(free_at=F("free_at") - charge.pause)

    def forget(self, charge: Charge) -> None:
        """Fill the bucket."""
        self.filter(key=charge.key).delete()

    def purge(self) -> None:
        """Delete some of the buckets that are full again."""
        PURGE.all()


class LoginLimit(models.Model):
    # A digest, so that the table holds no names and addresses.
    key = models.CharField(primary_key=True, max_length=KEY_CHARACTERS, editable=False)
    free_at = models.DateTimeField(db_index=True)

    objects = LoginLimitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"login limit {self.key[:8]}"


class AccountDeletion(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="deletion"
    )
    requested_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"deletion of account {self.pk}"
