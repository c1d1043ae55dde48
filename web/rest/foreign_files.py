"""Storage of the files of a foreign export, as for uploads."""

import logging
from collections.abc import Iterable, Iterator

from django.contrib.auth.models import User

from chat.protocol.errors import ApiError
from chat.sessions.portable.zip_reader import ZipReader
from knowledge.models import File
from web.rest import session_archives, uploads
from web.rest.multipart_form import UploadedContent

logger = logging.getLogger(__name__)


class ForeignFiles:
    """The implementation of attachments.Contents.
    archive: None if the export has no files. entries: names of the archive's entries, by source.
    """

    def __init__(self, user: User, archive: ZipReader | None, entries: dict[str, str]) -> None:
        self._user, self._archive, self._entries = user, archive, entries

    def size(self, source: str) -> int | None:
        entry = self._entries.get(source)
        if self._archive is None or entry is None:
            return None
        return self._archive.entries[entry].file_size

    def read(self, source: str) -> Iterator[bytes]:
        return self._archive.read(self._entries[source]) if self._archive else iter(())

    def store(self, name: str, content: Iterable[bytes]) -> File | ApiError:
        """Store the file.
        Return an error instead if it is damaged, empty, too large or of another type than its name says.
        """
        upload = UploadedContent(name)
        try:
            try:
                for chunk in content:
                    upload.write(chunk)
                file = uploads.describe_upload(self._user, upload)
            except ApiError as refusal:
                logger.info(
                    "a file of an imported chat of user %s is refused: %s", self._user.pk, refusal.code
                )
                return refusal
            uploads.store_content(upload, file)
            return file
        finally:
            upload.close()

    def discard(self, files: Iterable[File]) -> None:
        session_archives.discard(files)
