"""The account `demo` with the public password `demo`: it exists for development and is closed everywhere else.

By name, not by a flag of its row: the database of a development instance may be used in production later.
"""

from typing import Any, Final

from django.conf import settings

DEMO: Final = "demo"


def may_log_in(user: Any) -> bool:
    """Return whether a session, a token or a password of this user is accepted."""
    return user.is_active and (settings.DEVELOPMENT or user.get_username() != DEMO)
