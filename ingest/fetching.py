"""Fetches the content of a document from its URL into the storage, and extends the lease of the document meanwhile."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait
from io import BytesIO
from pathlib import Path

from chat.infrastructure.fault_points import reach
from ingest import drain
from ingest.child import Draining, LostLease
from knowledge.fetching.page import FetchedPage, fetch_text
from knowledge.fetching.target import UrlRefused
from knowledge.files import blobs
from knowledge.models import Document, DocumentVersion, File
from knowledge.models.document import hash_given
from knowledge.models.file import BEAT_S

logger = logging.getLogger(__name__)


class Unchanged(Exception):
    """The URL has the content that searches find already."""


def fetch(file: File, target: Path) -> str:
    """Write the content of the URL to `target`; return an error code, empty if there is none.

    Raises Unchanged, LostLease, Draining, and OSError if the storage fails.
    """
    try:
        found = _wait_for(file)
    except UrlRefused as refused:
        logger.info("file %s: %s", file.pk, refused)
        return refused.code
    reach("after_document_fetched")
    before = Document.objects.filter(pk=file.pk).defer("text").first()
    if before is None:
        raise LostLease
    digest = hash_given(found.content_type, [found.content])
    path = blobs.store(BytesIO(found.content), f"{blobs.upload_path(file.pk)}-{file.attempt}")
    version = DocumentVersion(before.name, found.content_type, len(found.content), path, digest, before.url)
    is_same = before.chunks_version is not None and before.is_found_with(digest)
    before.attempt = file.attempt
    if not before.record_fetched(version):
        blobs.discard(path)
        raise LostLease
    if is_same:
        raise Unchanged
    file.content.name, file.size_bytes, file.content_type = path, len(found.content), found.content_type
    target.write_bytes(found.content)
    return ""


def _wait_for(file: File) -> FetchedPage:
    """Fetch the page, and extend the lease meanwhile. Raises UrlRefused, LostLease, Draining."""
    pool = ThreadPoolExecutor(1, "fetch")
    fetched: Future[FetchedPage] = pool.submit(fetch_text, file.url)
    pool.shutdown(wait=False)
    while not wait([fetched], BEAT_S).done:
        if drain.has_begun():
            raise Draining
        if not file.extend_lease():
            raise LostLease
    return fetched.result()
