"""Deletes kept requests to models older than KEEP_REQUESTS_HOURS, the texts of those for titles and summaries, prompts that
no run refers to, sessions of browsers that have expired, and what users waited for of MCP servers."""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from chat.models import McpRequest, McpRevocation, McpSignIn, PromptVersion, SentRequest, SideRequest
from chat.models.login import purge_expired

EVERY_S: Final = 60.0
# Deletes the requests of this many runs at a time, so that no sweep takes long; later sweeps delete the rest.
RUNS_AT_ONCE: Final = 500
VERSIONS_EVERY_S: Final = 600.0
LOGINS_EVERY_S: Final = 600.0
LOGINS_AT_ONCE: Final = 500
MCP_EVERY_S: Final = 600.0


class RequestPurger:
    """Purges once a minute; while there is more to delete, at every call."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """Delete a batch if one is due; return the number of rows deleted or emptied. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        age = timedelta(hours=settings.KEEP_REQUESTS_HOURS)
        purged = SentRequest.objects.purge(age, runs=RUNS_AT_ONCE)
        purged += SideRequest.objects.purge_texts(age, rows=RUNS_AT_ONCE)
        if purged < RUNS_AT_ONCE:
            self._next_at = now_s + EVERY_S
        return purged


class VersionPurger:
    """Purges the prompt versions of deleted runs every ten minutes."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """Return the number of deleted versions. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        self._next_at = now_s + VERSIONS_EVERY_S
        return PromptVersion.objects.purge()


class LoginPurger:
    """Purges expired sessions of browsers every ten minutes; while there are more, at every call."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """Return the number of deleted sessions. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        purged = purge_expired(LOGINS_AT_ONCE)
        if purged < LOGINS_AT_ONCE:
            self._next_at = now_s + LOGINS_EVERY_S
        return purged


class McpPurger:
    """Purges what has expired of sign-ins to MCP servers, their revocations, and requests for resources and prompts, every ten minutes."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """Return the number of deleted rows. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        self._next_at = now_s + MCP_EVERY_S
        expired = {"expires_at__lt": Now()}
        return sum(
            table.filter(**expired).delete()[0]
            for table in (McpSignIn.objects, McpRevocation.objects, McpRequest.objects)
        )
