"""The caches of each process, a part of settings.py. They are not in Redis, which must have room for the logs of runs."""

from typing import Any

__all__ = ["CACHES"]

CACHES: dict[str, dict[str, Any]] = {
    # Which logins were used a moment ago (web/accounts/logins.py).
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    # Pages of shared links (chat/sessions/sharing.py), of at most a megabyte each.
    "shared_pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "shared_pages",
        "TIMEOUT": 300,
        "OPTIONS": {"MAX_ENTRIES": 64},
    },
}
