"""Stores pictures of a document's pages without text, as files that vision models get with the document."""

from collections.abc import Sequence
from pathlib import Path

from django.db.models.functions import Now

from chat.models import StoredBytes
from chat.protocol.errors import ApiError
from chat.runs import quotas
from ingest.reader.reading_outcome import PagePicture, page_picture_name
from knowledge.files import blobs
from knowledge.models import File, FileKind, FileStatus

_CONTENT_TYPE = "image/jpeg"


def store(document: File, pages: Sequence[PagePicture], folder: Path, stored: list[str]) -> list[File]:
    """Store the contents and return their unsaved rows. `stored` gets their paths. Raises OSError.

    Nothing is stored for a document of a knowledge base, which models never get whole, or without room in the storage
    quota of the owner.
    """
    if not pages or document.knowledge_base_id:
        return []
    rows = [_row(document, picture, folder / page_picture_name(picture.page)) for picture in pages]
    try:
        quotas.check_storage(
            document.owner_id,
            StoredBytes.objects.sum_of(document.owner_id),
            sum(row.size_bytes for row in rows),
        )
    except ApiError:
        return []
    for row, picture in zip(rows, pages, strict=True):
        with (folder / page_picture_name(picture.page)).open("rb") as content:
            row.content.name = blobs.store(content, blobs.upload_path(row.pk))
        stored.append(str(row.content.name))
    return rows


def replace(document: File, pictures: Sequence[File]) -> None:
    """Replace the pictures of a document, in the transaction in which it ends. Pictures in messages stay."""
    File.objects.filter(page_of=document, messages__isnull=True).delete()
    File.objects.bulk_create(pictures)


def _row(document: File, picture: PagePicture, source: Path) -> File:
    return File(
        owner_id=document.owner_id,
        page_of=document,
        page=picture.page,
        name=f"{document.name[:200]}, page {picture.page}",
        content_type=_CONTENT_TYPE,
        kind=FileKind.IMAGE,
        status=FileStatus.READY,
        size_bytes=source.stat().st_size,
        width_px=picture.width_px,
        height_px=picture.height_px,
        ended_at=Now(),
        announced_at=Now(),
    )
