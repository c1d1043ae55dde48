"""Limit on the concurrent imports of a process: each may hold ten times the bytes of its file."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from chat.protocol.errors import ApiError

MAX_AT_ONCE: Final = 2
_lock: Final = Lock()
_importing: Final[set[object]] = set()


@contextmanager
def import_slot(user: object) -> Iterator[None]:
    """Hold one of the process's import slots during the block. Raises ApiError if none is free.
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
