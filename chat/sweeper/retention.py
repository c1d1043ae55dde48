"""Deletes what is kept for a while only: the requests that were sent to models."""

from datetime import timedelta
from typing import Final

from django.conf import settings

from chat.models import SentRequest

EVERY_S: Final = 60.0
# Of so many runs at once, so that no sweep takes long; what is left over goes with the next sweeps.
RUNS_AT_ONCE: Final = 500


class RequestPurger:
    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """If it is time; returns how many rows were deleted. now_s: monotonic."""
        if now_s < self._next_at:
            return 0
        age = timedelta(hours=settings.KEEP_REQUESTS_HOURS)
        purged = SentRequest.objects.purge(age, runs=RUNS_AT_ONCE)
        if purged < RUNS_AT_ONCE:
            self._next_at = now_s + EVERY_S
        return purged
