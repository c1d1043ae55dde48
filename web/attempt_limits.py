"""Limits on attempts that can be wrong: logins, links, names of people. Each is charged to its subject before it is made."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User

from chat.models import LoginLimit
from chat.models.account import Charge
from chat.protocol.errors import ApiError

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
