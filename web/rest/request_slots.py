"""Limits on the concurrent requests of one user in a web process.
They take half of the database connections at most, so that other users always find one (decision 0088).

Further requests wait, without a connection, for a request of the same user to end, and are refused with 429 after some
time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from chat.protocol.errors import ApiError
from web.rest.user_slots import UserSlots

# Short requests: a client that sends many at the same time is served in turns.
REQUESTS: Final = UserSlots(8, waiting=100, wait_s=20.0)
# Requests that may take seconds: searches, whole branches and trees, texts of files, sums over all rows of a user.
EXPENSIVE: Final = UserSlots(2, waiting=100, wait_s=20.0)
# Requests whose JSON may have megabytes of text, which takes the CPU of this process for a good part of a second.
LONG_BODIES: Final = UserSlots(2, waiting=100, wait_s=20.0)
# Requests of anonymous readers of shared links, counted for the owner.
SHARED: Final = UserSlots(4, waiting=50, wait_s=10.0)
# Pages of the admin, counted for their member of staff.
ADMIN: Final = UserSlots(4, waiting=20, wait_s=10.0)
# Streams, until the last byte is sent, mostly without a database connection. A browser opens six connections to a host.
DOWNLOADS: Final = UserSlots(8)
EXPORTS: Final = UserSlots(2)


MAX_AT_ONCE: Final = 2
_lock: Final = Lock()
_importing: Final[set[object]] = set()


@contextmanager
def import_slot(user: object) -> Iterator[None]:
    """Hold one of the process's import slots during the block: an import may hold ten times the bytes of its file.

    Raises ApiError if none is free.
    user: the user's id, which has at most one slot.
    """
    with _lock:
        if user in _importing or len(_importing) >= MAX_AT_ONCE:
            raise ApiError("too_many_uploads")
        _importing.add(user)
    try:
        yield
    finally:
        with _lock:
            _importing.discard(user)
