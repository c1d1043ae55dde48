"""McpCredential: the tokens of one or all users for an MCP server. McpSignIn: a sign-in in progress (decision 0182)."""

from __future__ import annotations

import json
import secrets
import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from chat.infrastructure import encryption
from chat.models.mcp_server import McpServer, SignInOf, Transport

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SIGN_IN_TIME: Final = timedelta(minutes=10)
# A worker that died while it asked for new tokens is not waited for longer.
REFRESH_TIME: Final = timedelta(seconds=30)
# Sign-ins of one user, in as many tabs; the oldest give way.
MAX_SIGN_INS: Final = 10
MAX_ADDRESS: Final = 4_000
MAX_SCOPE: Final = 1_000
# Members of what is encrypted that appear in no log.
SECRET_NAMES: Final = frozenset({"access_token", "refresh_token", "client_secret", "verifier", "code"})


def is_scope(text: str) -> bool:
    """Return whether an issuer can be asked for this scope (RFC 6749, section 3.3)."""
    return len(text) <= MAX_SCOPE and text.isascii() and text.isprintable() and not set(text) & {'"', "\\"}


def _encrypted(values: dict[str, Any]) -> str:
    _remember(values)
    return encryption.encrypt(json.dumps(values))


def decrypted(text: str) -> dict[str, Any]:
    """Decrypt a secret. Raises EncryptionUnavailable, UnreadableSecret."""
    values: dict[str, Any] = json.loads(encryption.decrypt(text))
    _remember(values)
    return values


def _remember(values: dict[str, Any]) -> None:
    for name in SECRET_NAMES & values.keys():
        encryption.remember(str(values[name]))
    if isinstance(client := values.get("client"), dict):
        _remember(client)


class McpCredentialQuerySet(models.QuerySet["McpCredential"]):
    def usable(self) -> Self:
        """Select credentials for the present address of their server: another server must not get the tokens.
        Of each server, only the credentials of users, or only the shared one.
        """
        owned = Q(server__sign_in=SignInOf.USER, user__isnull=False)
        shared = Q(server__sign_in=SignInOf.SHARED, user=None)
        return self.filter(owned | shared, url=F("server__url"), server__transport=Transport.HTTP)

    def held_by(self, user: User | int) -> Self:
        """Select the credentials with which calls of this user are made."""
        return self.usable().filter(Q(user=user) | Q(user=None))

    def store(
        self, sign_in: McpSignIn, issuer: str, secret: dict[str, Any], *, expires_at: datetime | None = None
    ) -> McpCredential:
        """Store the credential that a sign-in has obtained, in place of the former. Raises EncryptionUnavailable."""
        kept = {
            "url": sign_in.url,
            "issuer": issuer,
            "encrypted_secret": _encrypted(secret),
            "expires_at": expires_at,
        }
        user = None if sign_in.is_shared else sign_in.user
        with transaction.atomic():
            # Of several sign-ins at once one stays. It gets a new row, since connections are kept by row.
            McpServer.objects.select_for_update(no_key=True).get(pk=sign_in.server_id)
            self.filter(server=sign_in.server_id, user=user).delete()
            return self.create(server_id=sign_in.server_id, user=user, **kept)

    def claim_refresh(self, credential: McpCredential) -> bool:
        """Claim the refresh for this process, since a refresh token can be used once. False: another was first."""
        free = Q(refreshing_until=None) | Q(refreshing_until__lt=Now())
        current = self.filter(free, pk=credential.pk, revision=credential.revision)
        return bool(current.update(refreshing_until=Now() + REFRESH_TIME))

    def refreshed(
        self, credential: McpCredential, secret: dict[str, Any], expires_at: datetime | None
    ) -> bool:
        """Store the new tokens. False: the user signed in or out meanwhile."""
        return bool(
            self.filter(pk=credential.pk, revision=credential.revision).update(
                encrypted_secret=_encrypted(secret),
                revision=uuid.uuid4(),
                refreshing_until=None,
                expires_at=expires_at,
            )
        )

    def demand(self, credential: McpCredential, scope: str) -> None:
        """Note a scope that the server demands for some calls: the next sign-in asks for it."""
        self.filter(pk=credential.pk).update(wanted_scope=scope)

    def abandon_refresh(self, credential: McpCredential) -> None:
        """Release the claim of claim_refresh(), since the issuer could not be asked: the next call tries again."""
        self.filter(pk=credential.pk, revision=credential.revision).update(refreshing_until=None)

    def forget(self, credential: McpCredential) -> None:
        """Delete a credential that the issuer or the server does not accept any more."""
        self.filter(pk=credential.pk, revision=credential.revision).delete()


class McpCredential(models.Model):
    """user: the owner; null: all users.  url: the server's address, the only one that the tokens are sent to.
    issuer: who has issued them.  encrypted_secret: the JSON of features/mcp/client/oauth.py, encrypted by
    chat/infrastructure/encryption.py.  expires_at: null if the issuer does not say.
    revision: changes with each new token.
    wanted_scope: the scope that the server demands for some calls, and that no sign-in has asked for; empty: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="credentials")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    url = models.CharField(max_length=2_000)
    issuer = models.CharField(max_length=2_000)
    encrypted_secret = models.TextField(editable=False)
    expires_at = models.DateTimeField(null=True)
    revision = models.UUIDField(default=uuid.uuid4)
    refreshing_until = models.DateTimeField(null=True)
    wanted_scope = models.CharField(max_length=MAX_SCOPE, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = McpCredentialQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP credential"
        constraints = [
            models.UniqueConstraint(
                fields=["server", "user"], nulls_distinct=False, name="one_mcp_credential_of_a_user"
            ),
            models.CheckConstraint(condition=~Q(encrypted_secret=""), name="mcp_credential_has_a_secret"),
        ]

    def __str__(self) -> str:
        return f"{self.server}: {self.user or 'shared'}"

    @property
    def secret(self) -> dict[str, Any]:
        """The decrypted secret. Raises EncryptionUnavailable, UnreadableSecret."""
        return decrypted(self.encrypted_secret)


class SignInStatus(models.TextChoices):
    PREPARING = "preparing"  # a worker finds out where the user has to go
    READY = "ready"  # the address that the user has to go to is known
    EXCHANGING = "exchanging"  # a worker exchanges what the user came back with
    DONE = "done"
    FAILED = "failed"


class McpSignInQuerySet(models.QuerySet["McpSignIn"]):
    def live(self) -> Self:
        return self.filter(expires_at__gt=Now())

    def begin(self, user: User, server: McpServer, redirect_uri: str) -> McpSignIn:
        """Create a sign-in. Deletes expired sign-ins, and the user's oldest ones beyond MAX_SIGN_INS."""
        asked = {"server": server, "is_shared": server.is_shared, "url": server.url}
        return begin_row(self, user, SIGN_IN_TIME, MAX_SIGN_INS, redirect_uri=redirect_uri, **asked)

    def move(self, sign_in: McpSignIn, before: SignInStatus, after: SignInStatus, **fields: Any) -> bool:
        """Move a sign-in from one status to another. False: another process was first, or it has expired."""
        current = self.live().filter(pk=sign_in.pk, status=before)
        return bool(current.update(status=after, **fields))


def new_state() -> str:
    return secrets.token_urlsafe(32)


class McpSignIn(models.Model):
    """state: that of the request to the issuer (RFC 6749, section 10.12).  browser: the digest of the session of the
    browser that was sent to the issuer.  address: the issuer's page.  encrypted_flow: the data that the exchange needs.
    encrypted_answer: the data that the browser came back with.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="+")
    is_shared = models.BooleanField(default=False)
    url = models.CharField(max_length=2_000)
    redirect_uri = models.CharField(max_length=2_000)
    state = models.CharField(max_length=43, unique=True, default=new_state)
    status = models.CharField(max_length=10, choices=SignInStatus.choices, default=SignInStatus.PREPARING)
    browser = models.CharField(max_length=64, blank=True, default="")
    address = models.CharField(max_length=MAX_ADDRESS, blank=True, default="")
    problem = models.CharField(max_length=500, blank=True, default="")
    encrypted_flow = models.TextField(blank=True, default="", editable=False)
    encrypted_answer = models.TextField(blank=True, default="", editable=False)
    expires_at = models.DateTimeField(db_index=True)

    objects = McpSignInQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP sign-in"
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=SignInStatus.values), name="mcp_sign_in_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.server}: {self.user}"


M = TypeVar("M", bound=models.Model)


def begin_row(rows: models.QuerySet[M], user: User, lifetime: timedelta, limit: int, **fields: Any) -> M:
    """Create a row of the user. Deletes expired rows, and the user's oldest ones beyond `limit`."""
    rows.filter(expires_at__lte=Now()).delete()
    own = rows.filter(user=user)
    latest = own.order_by("-expires_at").values_list("pk", flat=True)[: limit - 1]
    own.exclude(pk__in=list(latest)).delete()
    # Read in the same transaction: once it is committed, the next requests of the user may delete the row.
    with transaction.atomic():
        begun = rows.create(user=user, expires_at=Now() + lifetime, **fields)
        begun.refresh_from_db(fields=["expires_at"])
    return begun


# The time within which the issuer is asked. Afterwards the tokens expire by themselves.
REVOCATION_TIME: Final = timedelta(hours=1)


class McpRevocationQuerySet(models.QuerySet["McpRevocation"]):
    def begin(self, credential: McpCredential) -> McpRevocation:
        """Store the encrypted secret of a credential that is being deleted."""
        expires_at: Any = Now() + REVOCATION_TIME
        return self.create(encrypted_secret=credential.encrypted_secret, expires_at=expires_at)

    def pop(self, pk: str) -> McpRevocation | None:
        """Delete the row and return it: whoever gets it asks the issuer, once. None: it is gone."""
        row = self.filter(pk=pk).first()
        return row if row and self.filter(pk=pk).delete()[0] else None


class McpRevocation(models.Model):
    """encrypted_secret: as in McpCredential."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    encrypted_secret = models.TextField(editable=False)
    expires_at = models.DateTimeField(db_index=True)

    objects = McpRevocationQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP revocation"
        constraints = [
            models.CheckConstraint(condition=~Q(encrypted_secret=""), name="mcp_revocation_has_a_secret")
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def secret(self) -> dict[str, Any]:
        """The decrypted secret. Raises EncryptionUnavailable, UnreadableSecret."""
        return decrypted(self.encrypted_secret)
