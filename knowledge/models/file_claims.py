"""FileClaims: claims of files by workers, and queries for repairs by the sweeper."""

from datetime import timedelta
from typing import Final, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F
from django.db.models.functions import Now

from knowledge.models.extraction import FileStatus
from knowledge.models.sql.fair_order import CLAIM_FILE

M = TypeVar("M", bound=models.Model)

# A worker extends the lease while it extracts the text; after the lease, another worker gets the file.
LEASE: Final = timedelta(seconds=15)
# A file that waits longer may have lost its queue message.
UNCLAIMED_FOR: Final = timedelta(seconds=5)
# An end is announced within milliseconds of its commit; after this its worker has crashed.
UNANNOUNCED_FOR: Final = timedelta(seconds=2)


def _slow_files(slots: int) -> dict[str, str | int]:
    """Return which files of an owner leave a slot to others, and how many of them are read at once (decision 0094)."""
    return {"slow_type": "application/pdf" if settings.OCR else "", "most_slow": max(1, slots - 1)}


class FileClaims(models.QuerySet[M]):
    # Mutators

    def claim(self, file_id: UUID | str) -> M | None:
        """Lease a file whose text is to be extracted; None if another worker has it, or it has ended."""
        waiting = self.filter(pk=file_id, status=FileStatus.PROCESSING, lease_until__isnull=True)
        with transaction.atomic():
            unlocked = waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))
            if not unlocked.values_list("pk").first():
                return None
            self.filter(pk=file_id).update(attempt=F("attempt") + 1, lease_until=Now() + LEASE)
            return self.defer("text").get(pk=file_id)

    def claim_next(self, slots: int) -> M | None:
        """Lease the next file: the oldest that waits of the owner with the fewest files in work. None: none waits.
        slots: how many files all processes read at once.
        """
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM_FILE, {"lease_s": LEASE.total_seconds(), **_slow_files(slots)})
            claimed = cursor.fetchone()
            return self.defer("text").get(pk=claimed[0]) if claimed else None

    # Queries

    def not_ended(self) -> Self:
        """Filter the files that wait or are in work."""
        return self.filter(status=FileStatus.PROCESSING)

    def abandoned(self) -> Self:
        """Filter the files whose worker has died."""
        return self.filter(status=FileStatus.PROCESSING, lease_until__lt=Now()).defer("text")

    def unclaimed(self) -> Self:
        """Filter the files that no worker has claimed within UNCLAIMED_FOR."""
        waiting = self.filter(status=FileStatus.PROCESSING, lease_until__isnull=True)
        return waiting.filter(queued_at__lt=Now() - UNCLAIMED_FOR)

    def unannounced(self) -> Self:
        """Filter the files whose end was committed but, because of a crash, not published."""
        return self.filter(announced_at__isnull=True, ended_at__lt=Now() - UNANNOUNCED_FOR).defer("text")
