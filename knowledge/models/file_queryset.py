"""FileQuerySet: which files a worker claims, which ones the sweeper repairs, and which ones a user sees."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models import Count
from django.db.models.functions import Now

from knowledge.models.extraction import FileStatus
from knowledge.models.sql.turns import CLAIM_FILE

if TYPE_CHECKING:
    from knowledge.models.file import File

# While its text is extracted, a worker extends the lease; without that, the file is given to another one.
LEASE: Final = timedelta(seconds=15)
# A file that waits for longer may have lost its queue message.
UNCLAIMED_FOR: Final = timedelta(seconds=5)
# An end is announced within milliseconds of its commit; after this its worker has crashed.
UNANNOUNCED_FOR: Final = timedelta(seconds=2)


class FileQuerySet(models.QuerySet["File"]):
    # Mutators

    def claim(self, file_id: UUID | str) -> File | None:
        """Lease a file whose text is to be extracted; None if another worker has it, or it has ended."""
        with transaction.atomic():
            waiting = self.filter(pk=file_id, status=FileStatus.PROCESSING, lease_until__isnull=True)
            file = (
                waiting.defer("text").select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
            )
            if file is None:
                return None
            file.attempt += 1
            self.filter(pk=file.pk).update(attempt=file.attempt, lease_until=Now() + LEASE)
        return file

    def claim_next(self) -> File | None:
        """Lease the file that is next: of those that wait, the oldest of the owner with the fewest in work. None: nothing waits."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM_FILE, {"lease": LEASE})
            claimed = cursor.fetchone()
            return self.defer("text").get(pk=claimed[0]) if claimed else None

    # Queries

    def not_ended(self) -> Self:
        """Those that wait or are in work."""
        return self.filter(status=FileStatus.PROCESSING)

    def with_stale_chunks(self) -> Self:
        """Those that no worker adds chunks to. A search that stores missing ones adds them to the version that is kept."""
        return self.filter(has_stale_chunks=True).exclude(status=FileStatus.PROCESSING)

    def visible_to(self, user: Any) -> Self:
        """The user's own files, without documents of knowledge bases; files of other users are not visible."""
        return self.filter(owner=user, knowledge_base__isnull=True)

    def abandoned(self) -> Self:
        """Files whose worker has died."""
        return self.filter(status=FileStatus.PROCESSING, lease_until__lt=Now()).defer("text")

    def unclaimed(self) -> Self:
        """Files that no worker has claimed for a while."""
        waiting = self.filter(status=FileStatus.PROCESSING, lease_until__isnull=True)
        return waiting.filter(queued_at__lt=Now() - UNCLAIMED_FOR)

    def unannounced(self) -> Self:
        """Files whose end was committed and, after a crash, not published."""
        return self.filter(announced_at__isnull=True, ended_at__lt=Now() - UNANNOUNCED_FOR).defer("text")

    def of_session_alone(self, session_id: UUID) -> Self:
        """Files attached to messages of this session, to none of another session, and in no project."""
        files = apps.get_model("knowledge", "File").objects
        attached = files.filter(messages__message__session_id=session_id, project__isnull=True)
        counted = self.filter(pk__in=attached.values("pk"))
        return counted.annotate(sessions=Count("messages__message__session_id", distinct=True)).filter(
            sessions=1
        )
