"""The limits of one attempt to get into an account, by password or by link, and what a success resets.

Every attempt is charged before the password is hashed, so that concurrent attempts count too. A right password gets its
charge back (docs/decisions/0080-logins-and-accounts.md). A cookie marks browsers in which a user has logged in, so that attacks on
the user's name do not lock them out: it is signed and names the user and the browser, and does not log anybody in (OWASP
calls it a device cookie).

How many passwords this process hashes at once is bounded too: a flood of logins must not take the CPU from requests. A hash
takes a core for a third of a second; attempts beyond the bounds are refused at once instead of queued.
"""

import os
import secrets
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.models import LoginLimit
from chat.protocol.errors import ApiError
from features.accounts.client_network import client_network
from web.accounts import charge, spend

# (attempts at once, seconds after which one more is allowed), by name and network.
PER_NAME_AND_ADDRESS: Final = (8, 60)
# By network: passwords tried with many names.
PER_ADDRESS: Final = (40, 15)
# By name: one name tried from many addresses, at most 90 times an hour.
PER_NAME: Final = (20, 40)
COOKIE: Final = "known_device"
# A longer time would be as safe: a stolen cookie allows eight guesses at one password.
MAX_AGE_S: Final = 31_536_000
# The former path of this code: cookies of browsers were signed with it.
_SALT: Final = "web.accounts.known_device"

# Half of the cores remain free for requests.
SLOTS: Final = max(1, (os.cpu_count() or 1) // 2)
# Logins that hash or wait to hash. They wait without a database connection.
MAX_INSIDE: Final = 16
# The part of them from one address, so that others get their turn during a flood.
MAX_INSIDE_PER_ADDRESS: Final = 4
# Longer than all other logins inside can take.
LONGEST_WAIT_S: Final = 20.0
RETRY_AFTER_S: Final = 3


class LoginAttempt:
    """The charges of one attempt. A browser known for the name is charged by its device id, not by name and address."""

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
        """Charge the attempt. Raises ApiError as spend() does."""
        spend(self.charges)

    def finish(self) -> None:
        """Give back the charges and forget earlier wrong passwords if the password was right; else purge old limits."""
        if self.has_right_password:
            LoginLimit.objects.give_back(self.charges)
            LoginLimit.objects.forget(self.own)
        else:
            LoginLimit.objects.purge()


@contextmanager
def login_attempt(request: HttpRequest, name: str) -> Iterator[LoginAttempt]:
    """Limit the block, which checks the password and sets has_right_password. Raises ApiError if a limit is reached."""
    address = address_of(request)
    with hashing.entered(address):
        attempt = LoginAttempt(name, address, read_device(request, name))
        attempt.start()
        if not connection.in_atomic_block:
            connection.close()  # a request that waits for its turn holds no connection
        with hashing.slot():
            try:
                yield attempt
            finally:
                attempt.finish()


@contextmanager
def link_attempt(request: HttpRequest) -> Iterator[Callable[[], None]]:
    """Limit the block, which checks a secret link and calls the yielded function if the link is right.

    Wrong links count for the address as wrong passwords do. Raises ApiError if a limit is reached.
    """
    charges = [charge(PER_ADDRESS, "address", address_of(request))]
    spend(charges)
    yield lambda: LoginLimit.objects.give_back(charges)


def address_of(request: HttpRequest) -> str:
    """Return the network of the client, by which limits count."""
    return client_network(request.META.get("REMOTE_ADDR"))


def read_device(request: HttpRequest, name: str) -> str | None:
    """Return the id of the browser if `name` has logged in there, else None."""
    try:
        known, device = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=MAX_AGE_S)
    except (signing.BadSignature, TypeError, ValueError):
        return None
    return str(device) if known == name else None


def remember_device(response: HttpResponseBase, name: str) -> None:
    """Set the cookie of a browser in which `name` has just logged in."""
    value = signing.dumps((name, secrets.token_urlsafe(12)), salt=_SALT)
    response.set_cookie(
        COOKIE, value, MAX_AGE_S, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )


class PasswordHashing:
    """The bounds of one process, shared by its threads."""

    def __init__(
        self,
        slots: int = SLOTS,
        max_inside: int = MAX_INSIDE,
        max_inside_per_address: int = MAX_INSIDE_PER_ADDRESS,
    ) -> None:
        self._slots = threading.BoundedSemaphore(slots)
        self._lock = threading.Lock()
        self._inside: Counter[str] = Counter()
        self._max_inside = max_inside
        self._max_inside_per_address = max_inside_per_address

    @contextmanager
    def entered(self, address: str) -> Iterator[None]:
        """Count a login as inside during the block. Raises ApiError at once: `rate_limited` or `login_busy`."""
        self._enter(address)
        try:
            yield
        finally:
            self._leave(address)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a slot to hash in, and hold it during the block. Raises ApiError after LONGEST_WAIT_S."""
        if not self._slots.acquire(timeout=LONGEST_WAIT_S):
            raise ApiError("login_busy", retry_after_s=RETRY_AFTER_S)
        try:
            yield
        finally:
            self._slots.release()

    def _enter(self, address: str) -> None:
        with self._lock:
            if self._inside[address] >= self._max_inside_per_address:
                raise ApiError("rate_limited", retry_after_s=RETRY_AFTER_S)
            if self._inside.total() >= self._max_inside:
                raise ApiError("login_busy", retry_after_s=RETRY_AFTER_S)
            self._inside[address] += 1

    def _leave(self, address: str) -> None:
        with self._lock:
            self._inside[address] -= 1
            if not self._inside[address]:
                del self._inside[address]


hashing: Final = PasswordHashing()
