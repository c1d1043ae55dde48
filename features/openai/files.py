"""Stores the files whose contents are in a request, as uploads of its user, and has them read before the turn starts."""

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.models import MessageFile
from chat.protocol.errors import ApiError
from features.openai.authentication import Caller
from features.openai.conversation import Exchange, InlineFile
from knowledge.files import blobs
from knowledge.idle_connection import return_idle_connection
from knowledge.models import File, FileKind
from web.rest.uploads import UploadedContent, store_upload

_POLL_S: Final = 0.05


@contextmanager
def stored_files(
    caller: Caller, exchanges: Iterable[Exchange], inline: dict[UUID, InlineFile], limit_s: float = 30.0
) -> Iterator[None]:
    """Store files under these ids, and delete those that no message has if the block fails. Raises ApiError.

    exchanges: which name files.  inline: is emptied, since the request may be open for as long as the answer takes.
    limit_s: how long the reading is awaited.
    """
    ids = list(inline)
    if caller.agent_id:
        _check_files(caller, {file for exchange in exchanges for file in exchange.files}.difference(ids))
    try:
        for pk in ids:
            _store(caller.user, pk, inline.pop(pk))
        _await_reading(ids, time.monotonic() + limit_s)
        yield
    except BaseException:
        with transaction.atomic():
            File.objects.filter(pk__in=ids, messages=None).delete()
            blobs.purge_on_commit()
        raise


def _check_files(caller: Caller, files: Collection[UUID]) -> None:
    """Raise ApiError unless all these files are in chats that the caller may read."""
    rows = MessageFile.objects.filter(file__in=files, message__session__in=caller.sessions().values("pk"))
    if files and set(files) != set(rows.values_list("file", flat=True)):
        raise ApiError("file_not_found", field="files")


def _store(user: User, pk: UUID, file: InlineFile) -> None:
    with closing(UploadedContent(file.name)) as upload:
        upload.write(file.content)
        stored = store_upload(user, upload, pk=pk)
    if file.is_picture and stored.kind != FileKind.IMAGE:
        raise ApiError("file_type_mismatch", field="files")


def _await_reading(files: Collection[UUID], limit: float) -> None:
    """Wait until files have been read, by another process. Those that still are not are refused with the turn."""
    while files and File.objects.filter(pk__in=files).not_ended().exists() and time.monotonic() < limit:
        return_idle_connection()
        time.sleep(_POLL_S)
