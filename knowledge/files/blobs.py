"""The contents of files in Django's storage, a folder or a bucket: stored under ids, deleted after their rows.

Both kinds of storage raise OSError if they fail, and FileNotFoundError if a content does not exist. Outside of
transactions, a thread holds no database connection while it waits for the storage, which may be slow.
"""

import logging
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from itertools import chain
from typing import IO, Any, Final, NamedTuple
from uuid import UUID

from django.core.checks import CheckMessage, Error, register
from django.core.files.base import File as DjangoFile
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from knowledge.idle_connection import return_idle_connection
from knowledge.models import DeletedBlob, File, ServedVersion

logger = logging.getLogger(__name__)

FOLDER: Final = "files"
# Blobs deleted in one call, whose end a request may wait for.
BATCH: Final = 200
PURGE_S: Final = 1.0
_CHUNK: Final = 2000


def store(content: IO[Any], path: str) -> str:
    """Store `content`, from its beginning, and return its path in the storage."""
    content.seek(0)
    return_idle_connection()
    return default_storage.save(path, DjangoFile(content))


def read(path: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Read the bytes of a content from `start` to before `stop`, or to the end, in chunks.

    The content is opened when the first chunk is requested. Raises OSError, also between chunks.
    """
    storage: Any = default_storage
    chunks: Generator[bytes] = storage.chunks(path, start, stop)
    with closing(chunks):
        while True:
            return_idle_connection()
            if not (chunk := next(chunks, b"")):
                return
            yield chunk


def read_whole(path: str) -> bytes:
    """Return all bytes of a content. Raises OSError."""
    return b"".join(read(path))


def size(path: str) -> int:
    """Return the size of a content in bytes. Raises OSError."""
    return_idle_connection()
    return default_storage.size(path)


def upload_path(file_id: UUID) -> str:
    return f"{FOLDER}/{file_id}"


def discard(path: str) -> bool:
    """Delete a blob that no row refers to. False if the storage fails: the sweeper deletes the blob later."""
    return_idle_connection()
    try:
        default_storage.delete(path)
    except OSError as error:
        logger.warning("the blob %s is not deleted yet: %s", path, error)
        return False
    return True


def discard_all(paths: Iterable[str]) -> None:
    for path in paths:
        discard(path)


@contextmanager
def discarded_on_failure(paths: Sequence[str]) -> Iterator[None]:
    """Delete the blobs if the block fails, which stores the rows that refer to them; `paths` may grow in it.

    If it loses its connection to the database, they stay: the rows may be committed. The sweeper deletes what no row
    refers to.
    """
    try:
        yield
    except (InterfaceError, OperationalError):
        raise
    except BaseException:
        discard_all(paths)
        raise


def purge_on_commit() -> None:
    """Delete the blobs of rows that this transaction deletes, once it is committed; else the sweeper deletes them."""
    transaction.on_commit(purge_deleted, robust=True)


def purge_deleted() -> int:
    """Delete blobs whose rows are gone; return how many. Idempotent, and safe beside other processes that do the same.

    Stops after PURGE_S, and at the first blob that the storage fails to delete, which moves to the end of the queue.
    """
    limit = time.monotonic() + PURGE_S
    gone = []
    for blob in DeletedBlob.objects.order_by("created_at", "pk")[:BATCH]:
        if not discard(blob.path):
            DeletedBlob.objects.filter(pk=blob.pk).update(created_at=Now())
            break
        gone.append(blob.pk)
        if time.monotonic() > limit:
            break
    DeletedBlob.objects.filter(pk__in=gone).delete()
    return len(gone)


class Comparison(NamedTuple):
    """Paths of blobs that no file refers to, and of files whose blob is gone. referred: how many blobs have a row."""

    unreferenced: list[str]
    missing: list[str]
    referred: int

    @property
    def is_of_others(self) -> bool:
        """Whether the storage rather belongs to another database, or the rows were lost."""
        return len(self.unreferenced) > self.referred


def compare_with_rows(older_than: datetime) -> Comparison:
    """Compare the storage with the tables. Younger blobs are skipped: they may belong to uploads without a row yet."""
    stored = set(_stored_paths())
    rows = File.objects.values_list("content", "thumbnail").iterator(chunk_size=_CHUNK)
    served = ServedVersion.objects.values_list("content", flat=True)
    referred = {*chain.from_iterable(rows), *served} - {""}
    unreferenced = [path for path in sorted(stored - referred) if _is_older(path, older_than)]
    # Checked again: a blob stored after the listing is not missing.
    missing = [path for path in sorted(referred - stored) if not default_storage.exists(path)]
    return Comparison(unreferenced, missing, len(referred & stored))


def _stored_paths() -> Iterator[str]:
    try:
        _, names = default_storage.listdir(FOLDER)
    except FileNotFoundError:
        return
    for name in names:
        yield f"{FOLDER}/{name}"


def _is_older(path: str, moment: datetime) -> bool:
    """Return whether a blob is older than `moment`. False also if it was deleted or got a row meanwhile."""
    try:
        return (
            default_storage.get_modified_time(path) < moment
            and not File.objects.filter(Q(content=path) | Q(thumbnail=path)).exists()
            and not ServedVersion.objects.filter(content=path).exists()
        )
    except FileNotFoundError:
        return False


@register("storage", deploy=True)
def check_storage(**_: Any) -> list[CheckMessage]:
    """Store, read, list and delete a content in the bucket. A folder is checked by whoever starts the processes."""
    find_problem = getattr(default_storage, "find_problem", None)
    problem = find_problem() if find_problem else ""
    hint = "Look at STORAGE_URL and the credentials (docs/operations.md)."
    return [Error(f"STORAGE_URL: {problem}.", hint=hint, id="storage.E001")] if problem else []
