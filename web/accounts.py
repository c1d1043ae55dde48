"""Accounts that requests name: how a name finds one, the demo account, and the limits on attempts that can be wrong.

A name finds accounts whatever the case of its ASCII letters. No other letters are folded: full case folding, compatibility forms and the upper case of a database take different
addresses for one another (the dotless i for i, the long s for s, ß for ss), and whoever has one of them would enter the other's account.

The demo account is recognised by its name, not by a flag of its row: a development database may be used in production later.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet, Value
from django.db.models.functions import Collate, Lower
from django.db.models.lookups import Exact

from chat.models import LoginLimit
from chat.models.account import Charge
from chat.protocol.errors import ApiError


def accounts_at(address: str) -> QuerySet[User]:
    """Return the accounts with this e-mail address; none for an empty one."""
    return _accounts("email", address)


def accounts_named(name: str) -> QuerySet[User]:
    return _accounts("username", name)


def _accounts(field: Literal["email", "username"], text: str) -> QuerySet[User]:
    return User.objects.filter(Exact(_folded(field), _folded(Value(text)))) if text else User.objects.none()


def _folded(text: str | Value) -> Lower:
    # In the collation C, the lower case is that of ASCII, whatever the locale of the database.
    return Lower(Collate(text, "C"))


DEMO: Final = "demo"


def may_log_in(user: Any) -> bool:
    """Return whether a session, a token or a password of this user is accepted."""
    return user.is_active and (settings.DEVELOPMENT or user.get_username() != DEMO)


# (unknown names at once, seconds after which one more is allowed): the answer reveals which names exist.
UNKNOWN_NAMES: Final = (20, 60)


def charge(limit: tuple[int, int], *subject: str) -> Charge:
    """Return the charge of one attempt of the subject. limit: (attempts at once, seconds until one more is allowed)."""
    burst, pause_s = limit
    key = hashlib.sha256("\0".join(subject).encode()).hexdigest()
    return Charge(key, timedelta(seconds=pause_s), burst)


def spend(charges: Sequence[Charge]) -> None:
    """Spend the charges. If a limit is reached, nothing is charged and ApiError is raised with the seconds to wait."""
    wait_s = LoginLimit.objects.spend(charges)
    if wait_s is not None:
        raise ApiError("rate_limited", retry_after_s=wait_s)


@contextmanager
def limit_unknown_names(user: User) -> Iterator[None]:
    """Charge `user` for the name of a person, unless the block finds the person. Raises ApiError as spend()."""
    charges = [charge(UNKNOWN_NAMES, "unknown names", str(user.pk))]
    spend(charges)
    yield
    LoginLimit.objects.give_back(charges)
