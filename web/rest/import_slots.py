"""Limits how many imports a process works on at once: each may hold ten times the bytes of its file."""

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
    """user: the id; has one slot at most. Raises ApiError if none is free."""
    with _lock:
        if user in _importing or len(_importing) >= MAX_AT_ONCE:
            raise ApiError("too_many_uploads")
        _importing.add(user)
    try:
        yield
    finally:
        with _lock:
            _importing.discard(user)
