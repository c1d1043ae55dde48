"""The failures of the last day by error code, for the start page of the admin."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from django.db.models import Count
from django.utils import timezone

from chat.models import Run
from web.admin.failure_texts import words_of
from web.admin.run_links import counted_runs_url

PERIOD: Final = timedelta(hours=24)


class FailureCount(NamedTuple):
    """The number of failed runs with an error code. url: the list of these runs."""

    code: str
    runs: int
    url: str

    @property
    def words(self) -> str:
        return words_of(self.code)


def count_recent_failures() -> Sequence[FailureCount]:
    """Return the error codes of runs that failed within PERIOD, most frequent first."""
    since = timezone.now() - PERIOD
    # Imported runs were not executed by this installation. Plan: run_by_end.
    failed = Run.objects.filter(ended_at__gte=since, is_imported=False).exclude(error_code="")
    counts = (
        failed.order_by().values_list("error_code").annotate(runs=Count("pk")).order_by("-runs", "error_code")
    )
    return [FailureCount(code, number, counted_runs_url(since, error_code=code)) for code, number in counts]
