"""The period of the admin's usage page and its files, in days of UTC."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from django.utils import timezone

PERIODS: Final = (7, 30, 90)


class Period(NamedTuple):
    """The last days, today included."""

    length: int
    days: Sequence[date]

    @property
    def since(self) -> datetime:
        return datetime.combine(self.days[0], time.min, UTC)


def parse_period(text: str | None) -> Period:
    """Return the period of so many days; of 30 if the text is none of PERIODS."""
    length = next((days for days in PERIODS if str(days) == text), 30)
    today = timezone.now().astimezone(UTC).date()
    return Period(length, [today - timedelta(days=ago) for ago in range(length - 1, -1, -1)])
