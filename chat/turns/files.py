"""Files that are sent with a message: whose they are, whether they can be read, which numbers they get."""

from collections.abc import Sequence

from chat.models import ChatMessage, MessageFile, Session
from chat.protocol.errors import ApiError
from knowledge.models import File, FileKind, FileStatus


def readable(session: Session, wanted: Sequence[str]) -> list[File]:
    """The files of the session's owner with these ids, in this order. Raises ApiError."""
    if not wanted:
        return []
    own = File.objects.filter(owner_id=session.owner_id).defer("text")
    found = {str(file.pk): file for file in own.filter(pk__in=wanted)}
    if set(found) != set(wanted):
        raise ApiError("file_not_found", field="files")
    files = [found[pk] for pk in wanted]
    for file in files:
        if file.status == FileStatus.FAILED:
            raise ApiError("file_failed", field="files", file=str(file.pk), error=file.error_code)
        if file.status == FileStatus.PROCESSING:
            raise ApiError("file_processing", field="files", file=str(file.pk))
    return files


def attach(question: ChatMessage, files: Sequence[File]) -> None:
    """Put `files` with a stored message, numbered after all documents of its branch. In the caller's transaction."""
    if not files:
        return
    number = MessageFile.objects.highest_number(question)
    rows = []
    for position, file in enumerate(files):
        is_document = file.kind != FileKind.IMAGE
        number += is_document
        rows.append(
            MessageFile(
                message=question, file=file, position=position, number=number if is_document else None
            )
        )
    MessageFile.objects.bulk_create(rows)
