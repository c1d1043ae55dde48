"""The passkeys of an account, as rows of allauth's table.
They contain no secret: only a public key, and what the browser said about it.
"""

import hashlib
import logging
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from features.accounts.mail import notify_of_passkeys
from features.accounts.second_factor import first_recovery_codes, has_second_factor, lock, switch_off

logger = logging.getLogger(__name__)

MAX_PASSKEYS: Final = 20
MAX_NAME_CHARACTERS: Final = 60


class TooManyPasskeys(Exception):
    """The account already has MAX_PASSKEYS."""


def passkeys_of(user: Any) -> Any:
    return Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.WEBAUTHN).order_by("pk")


def add(user: Any, fields: dict[str, Any]) -> list[str]:
    """Store a passkey; return recovery codes if the account had none. Raises TooManyPasskeys.

    fields: name, domain, key, sign_count, is_discoverable.
    """
    with transaction.atomic():
        lock(user)
        if passkeys_of(user).count() >= MAX_PASSKEYS:
            raise TooManyPasskeys
        row = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=fields)
        codes = first_recovery_codes(user)
    logger.info("user %s: passkey %s added", user.pk, row.pk)
    notify_of_passkeys(user)
    return codes


def rename(user: Any, pk: int, name: str) -> bool:
    """Rename a passkey; return whether the user has it."""
    with transaction.atomic():
        row = passkeys_of(user).select_for_update().filter(pk=pk).first()
        if row is not None:
            passkeys_of(user).filter(pk=pk).update(data=row.data | {"name": name})
    return row is not None


def remove(user: Any, pk: int) -> bool:
    """Delete a passkey; return whether the user had it. Recovery codes are deleted with the last second factor."""
    with transaction.atomic():
        lock(user)
        deleted, _ = passkeys_of(user).filter(pk=pk).delete()
        if deleted and not has_second_factor(user):
            switch_off(user)
    if deleted:
        logger.info("user %s: passkey %s removed", user.pk, pk)
        notify_of_passkeys(user)
    return bool(deleted)


def use(pk: int, *, sign_count: int, challenge: str) -> str | None:
    """Record that the passkey answered the challenge; return the reason if the answer is refused, else None.

    A counter that does not increase belongs to a copy. Zero means that the authenticator does not count, as
    synchronised ones do not.
    """
    answered = hashlib.sha256(challenge.encode()).hexdigest()
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().filter(pk=pk).first()
        if row is None:
            return "removed meanwhile"
        if row.data.get("answered") == answered:
            return "the challenge was answered before"
        known = row.data["sign_count"]
        if (known or sign_count) and sign_count <= known:
            return f"its counter went from {known} to {sign_count}"
        data = row.data | {"answered": answered, "sign_count": sign_count}
        Authenticator.objects.filter(pk=pk).update(data=data, last_used_at=timezone.now())
    return None


def owner_of(handle: str) -> User | None:
    """Return the user whom the user handle of a passkey names, or None."""
    is_id = handle.isascii() and handle.isdigit() and len(handle) < 19
    return User.objects.filter(pk=int(handle)).first() if is_id else None
