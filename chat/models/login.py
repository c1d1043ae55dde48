"""Login: one place where a user is logged in; a row beside Django's session, which is deleted with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, Self

from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.db import models
from django.utils import timezone

from chat.models.sql.login_limits import USE

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
