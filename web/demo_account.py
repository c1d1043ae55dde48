"""The account `demo` with the public password `demo`: open in development, closed everywhere else.

It is recognised by its name, not by a flag of its row: a development database may be used in production later.
"""

from typing import Any, Final

from django.conf import settings

DEMO: Final = "demo"


def may_log_in(user: Any) -> bool:
    """Return whether a session, a token or a password of this user is accepted."""
    return user.is_active and (settings.DEVELOPMENT or user.get_username() != DEMO)
