"""Documents of knowledge bases as members who read them see them."""

from collections.abc import Sequence

from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.protocol.file_errors import file_error_message
from knowledge.indexing import chunks_without_vector
from knowledge.models import Document, FileStatus


def present_documents(documents: Sequence[Document]) -> list[JSONObject]:
    """documents: with what is `served` of each. One is ready when its text and its vectors are: one query for those of all."""
    ready = [one.pk for one in documents if one.status == FileStatus.READY]
    without = chunks_without_vector(Document.objects.filter(pk__in=ready)) if ready else None
    waiting = (
        set(without.order_by().values_list("file", flat=True).distinct()) if without is not None else set()
    )
    return [_present(document, is_waiting=document.pk in waiting) for document in documents]


def present_document(document: Document) -> JSONObject:
    [presented] = present_documents([document])
    return presented


def _present(document: Document, *, is_waiting: bool) -> JSONObject:
    """is_waiting: for vectors."""
    shown = document.shown
    return {
        "id": str(document.pk),
        "title": shown.name,
        "url": shown.url or None,
        "status": FileStatus.PROCESSING if is_waiting else document.status,
        "error": _error(document),
        "kind": document.kind,
        "content_type": shown.content_type,
        "size": shown.size_bytes,
        "token_count": document.token_count,
        "unread_pages": document.unread_pages,
        "created_at": isoformat_utc(document.created_at),
    }


def _error(document: Document) -> JSONObject | None:
    if document.status != FileStatus.FAILED:
        return None
    return {"code": document.error_code, "message": file_error_message(document.error_code)}
