"""Deletes rows that are no longer needed.

These are requests to models older than KEEP_REQUESTS_HOURS, and the texts of such requests for titles and summaries;
prompts that no run refers to; use of API tokens that are gone; expired sessions of browsers; expired sign-ins, revocations
and requests of MCP servers.
"""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from chat.models import (
    McpRequest,
    McpRevocation,
    McpSignIn,
    PromptVersion,
    SentRequest,
    SideRequest,
    TokenUse,
)
from chat.models.account import purge_expired
from chat.sweeper.periodic import Batch, PeriodicJob

EVERY_S: Final = 60.0
# For rows that change seldom.
SELDOM_S: Final = 600.0
# Per batch.
RUNS_AT_ONCE: Final = 500
LOGINS_AT_ONCE: Final = 500


class RequestPurger(PeriodicJob):
    every_s = EVERY_S
    what = "requests to models"

    def work(self) -> Batch:
        age = timedelta(hours=settings.KEEP_REQUESTS_HOURS)
        purged = SentRequest.objects.purge(age, runs=RUNS_AT_ONCE)
        purged += SideRequest.objects.purge_texts(age, rows=RUNS_AT_ONCE)
        return Batch(purged, has_more=purged >= RUNS_AT_ONCE)


class TokenUsePurger(PeriodicJob):
    """Sums the use of API tokens by day as well."""

    every_s = SELDOM_S
    what = "use of deleted API tokens"

    def work(self) -> Batch:
        return Batch(TokenUse.objects.compact())


class VersionPurger(PeriodicJob):
    """Deletes versions of prompts whose runs are deleted."""

    every_s = SELDOM_S
    what = "versions of prompts"

    def work(self) -> Batch:
        return Batch(PromptVersion.objects.purge())


class LoginPurger(PeriodicJob):
    every_s = SELDOM_S
    what = "expired sessions of browsers"

    def work(self) -> Batch:
        purged = purge_expired(LOGINS_AT_ONCE)
        return Batch(purged, has_more=purged >= LOGINS_AT_ONCE)


class McpPurger(PeriodicJob):
    """Deletes expired sign-ins to MCP servers, revocations, and requests for resources and prompts."""

    every_s = SELDOM_S
    what = "expired sign-ins and requests of MCP servers"

    def work(self) -> Batch:
        tables = (McpSignIn.objects, McpRevocation.objects, McpRequest.objects)
        return Batch(sum(table.filter(expires_at__lt=Now()).delete()[0] for table in tables))
