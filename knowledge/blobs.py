"""The contents of files in Django's storage: stored under ids, deleted after their rows."""

import logging
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import IO, Any, Final, NamedTuple
from uuid import UUID

from django.core.files.base import File as DjangoFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from knowledge.models import DeletedBlob, File

logger = logging.getLogger(__name__)

FOLDER: Final = "files"
# Deleted at a time, so that no sweep takes long.
BATCH: Final = 200
_CHUNK: Final = 2000
READ_BYTES: Final = 64 * 1024


def store(content: IO[Any], path: str) -> str:
    """Store `content`, from its beginning, and return the path it has got in the storage."""
    content.seek(0)
    return default_storage.save(path, DjangoFile(content))


def read(path: str) -> Iterator[bytes]:
    """The content in chunks; opened with the first one. Each kind of storage has its own exceptions."""
    with default_storage.open(path) as content:
        yield from content.chunks(READ_BYTES)


def upload_path(file_id: UUID) -> str:
    return f"{FOLDER}/{file_id}"


def discard(path: str) -> bool:
    """Delete a blob that no row refers to. False if the storage fails: the sweeper finds it later."""
    try:
        default_storage.delete(path)
    except Exception as error:  # noqa: BLE001  each kind of storage has its own exceptions
        logger.warning("the blob %s is not deleted yet: %s", path, error)
        return False
    return True


def purge_on_commit() -> None:
    """Delete the blobs of rows that this transaction deletes, once it is committed; else the sweeper does it."""
    transaction.on_commit(purge_deleted, robust=True)


def purge_deleted() -> int:
    """Delete blobs whose rows are gone; return how many. Idempotent, and safe beside others that do the same."""
    waiting = list(DeletedBlob.objects.order_by("pk")[:BATCH])
    gone = [blob.pk for blob in waiting if discard(blob.path)]
    DeletedBlob.objects.filter(pk__in=gone).delete()
    return len(gone)


class Comparison(NamedTuple):
    """Paths of blobs that no file refers to, and of files whose blob is gone."""

    unreferenced: list[str]
    missing: list[str]


def compare_with_rows(older_than: datetime) -> Comparison:
    """Compare the storage with the table. Younger blobs belong to uploads that have no row yet."""
    stored = set(_stored_paths())
    rows = File.objects.values_list("content", "thumbnail").iterator(chunk_size=_CHUNK)
    referred = set(chain.from_iterable(rows)) - {""}
    unreferenced = [path for path in sorted(stored - referred) if _is_older(path, older_than)]
    # Asked for again: what was stored since the listing is not missing.
    missing = [path for path in sorted(referred - stored) if not default_storage.exists(path)]
    return Comparison(unreferenced, missing)


def _stored_paths() -> Iterator[str]:
    try:
        _, names = default_storage.listdir(FOLDER)
    except FileNotFoundError:
        return
    for name in names:
        yield f"{FOLDER}/{name}"


def _is_older(path: str, moment: datetime) -> bool:
    """False as well if it has been deleted or got a row meanwhile."""
    try:
        return (
            default_storage.get_modified_time(path) < moment
            and not File.objects.filter(Q(content=path) | Q(thumbnail=path)).exists()
        )
    except FileNotFoundError:
        return False
