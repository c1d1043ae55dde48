"""One attempt to get into an account, by password or by a link: what limits it, and what its success resets.

Every attempt is charged to its limits before the password is hashed, so that attempts side by side count as well, and a
right password gets the charge back (docs/decisions/0080-login-limits.md).
"""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.db import connection
from django.http import HttpRequest

from chat.models import LoginLimit
from chat.models.login_limit import Charge
from chat.protocol.errors import ApiError
from web.accounts.client_network import client_network
from web.accounts.known_device import read_device
from web.accounts.password_hashing import hashing

# (attempts at once, seconds after which one more is allowed).
PER_NAME_AND_ADDRESS: Final = (8, 60)
# Passwords tried with many names.
PER_ADDRESS: Final = (40, 15)
# One name tried from many addresses: at most 90 an hour.
PER_NAME: Final = (20, 40)


class LoginAttempt:
    """The charges of one attempt. A browser known for the name is charged as such, not by address and name."""

    def __init__(self, name: str, address: str, device: str | None) -> None:
        name = unicodedata.normalize("NFKC", name).casefold()
        if device:
            self.own = charge(PER_NAME_AND_ADDRESS, "device", name, device)
            self.charges = [self.own]
        else:
            self.own = charge(PER_NAME_AND_ADDRESS, "pair", name, address)
            self.charges = [
                self.own,
                charge(PER_ADDRESS, "address", address),
                charge(PER_NAME, "name", name),
            ]
        self.has_right_password = False

    def start(self) -> None:
        """Raises ApiError, as spend()."""
        spend(self.charges)

    def finish(self) -> None:
        """A right password costs nothing, and forgets the wrong ones before it."""
        if self.has_right_password:
            LoginLimit.objects.give_back(self.charges)
            LoginLimit.objects.forget(self.own)
        else:
            LoginLimit.objects.purge()


@contextmanager
def login_attempt(request: HttpRequest, name: str) -> Iterator[LoginAttempt]:
    """Limit the block, which checks the password and sets has_right_password. Raises ApiError if it may not run."""
    address = address_of(request)
    with hashing.entered(address):
        attempt = LoginAttempt(name, address, read_device(request, name))
        attempt.start()
        if not connection.in_atomic_block:
            connection.close()  # those that wait for their turn hold none
        with hashing.slot():
            try:
                yield attempt
            finally:
                attempt.finish()


@contextmanager
def link_attempt(request: HttpRequest) -> Iterator[Callable[[], None]]:
    """Limit the block, which checks a secret link and calls what it is given if the link is right. Raises ApiError.

    Wrong links count for the address as wrong passwords do.
    """
    charges = [charge(PER_ADDRESS, "address", address_of(request))]
    spend(charges)
    yield lambda: LoginLimit.objects.give_back(charges)


def spend(charges: Sequence[Charge]) -> None:
    """Raises ApiError with the seconds to wait if a limit is reached; nothing is charged then."""
    wait_s = LoginLimit.objects.spend(charges)
    if wait_s is not None:
        raise ApiError("rate_limited", retry_after_s=wait_s)


def address_of(request: HttpRequest) -> str:
    """Return the network of the client, for which limits count."""
    return client_network(request.META.get("REMOTE_ADDR"))


def charge(limit: tuple[int, int], *subject: str) -> Charge:
    """Return one attempt of the subject. limit: attempts at once, seconds after which one more is allowed."""
    burst, pause_s = limit
    key = hashlib.sha256("\0".join(subject).encode()).hexdigest()
    return Charge(key, timedelta(seconds=pause_s), burst)
