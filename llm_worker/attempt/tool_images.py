"""Stores the images that a tool call returned, and waits until they have been read.

The reader of files parses them like uploads: models and browsers get images that were encoded anew.
"""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from io import BytesIO
from typing import Final, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.infrastructure.fault_points import reach
from chat.loaders.attachments import load_tool_images
from chat.models import Run, StoredBytes, ToolCallImage
from chat.protocol.errors import ApiError
from chat.runs import extraction, quotas
from chat.transcript.entries import Image
from knowledge.files import blobs
from knowledge.files.file_types import HEAD_BYTES, detect_type
from knowledge.models import File, FileKind, FileStatus
from llm_worker.attempt.fenced_writes import owns_run
from llm_worker.database import Database

logger = logging.getLogger(__name__)

# The answer goes on without images that have not been read by then; later turns have them.
WAIT_S: Final = 15.0
_POLL_S: Final = 0.1


class ReturnedImages(NamedTuple):
    """The images of one call. row: the row of the call.  name: the name of its tool.  contents: not parsed yet."""

    row: str
    name: str
    contents: Sequence[bytes]


async def keep_images(database: Database, run: Run, returned: ReturnedImages) -> Sequence[Image]:
    """Store images and return those that were read, with contents. Empty if there is no room or the storage fails."""
    if not await database.call_with_retry(store_images, run, returned):
        return ()
    try:
        async with asyncio.timeout(WAIT_S):
            while await database.call_with_retry(_are_being_read, returned.row):  # noqa: ASYNC110  another process reads them
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        logger.warning("tool call %s: its images have not been read within %g s", returned.row, WAIT_S)
    return await database.call_with_retry(_load, returned.row)


def store_images(run: Run, returned: ReturnedImages) -> bool:
    """Store contents and rows, and have them read. Returns False if nothing is stored.

    Replaces the images of an earlier execution.
    """
    files = [_row_of(run, returned, number) for number in range(1, len(returned.contents) + 1)]
    stored: list[str] = []
    is_stored = False
    try:
        for file, content in zip(files, returned.contents, strict=True):
            file.content.name = blobs.store(BytesIO(content), blobs.upload_path(file.pk))
            stored.append(str(file.content.name))
        is_stored = _store_rows(run, returned.row, files)
    except (OSError, ApiError) as error:
        logger.warning("tool call %s: its images are not stored: %s", returned.row, error)
    finally:
        if not is_stored:
            for path in stored:
                blobs.discard(path)
    reach("after_tool_images_stored")
    return is_stored


def _row_of(run: Run, returned: ReturnedImages, number: int) -> File:
    content = returned.contents[number - 1]
    return File(
        pk=uuid.uuid4(),
        owner_id=run.turn.session.owner_id,
        name=f"{returned.name}, image {number}",
        content_type=detect_type("", content[:HEAD_BYTES]).content_type,
        kind=FileKind.IMAGE,
        size_bytes=len(content),
        is_tool_image=True,
    )


def _store_rows(run: Run, row: str, files: Sequence[File]) -> bool:
    """Store the rows. Returns False if another process owns the run. Raises ApiError if the owner has no room."""
    owner = run.turn.session.owner_id
    with transaction.atomic():
        if not owns_run(run):
            return False
        quotas.lock_user(User(pk=owner))
        ToolCallImage.objects.filter(tool_call=UUID(row)).delete()
        size = sum(file.size_bytes for file in files)
        quotas.check_storage(owner, StoredBytes.objects.sum_of(owner), size)
        File.objects.bulk_create(files)
        ToolCallImage.objects.bulk_create(
            ToolCallImage(tool_call_id=UUID(row), file=file, position=position)
            for position, file in enumerate(files)
        )
        for file in files:
            extraction.extract_on_commit(file)
    return True


def _are_being_read(row: str) -> bool:
    return File.objects.filter(tool_calls__tool_call=UUID(row), status=FileStatus.PROCESSING).exists()


def _load(row: str) -> Sequence[Image]:
    images = load_tool_images([UUID(row)], with_contents=True).get(UUID(row), ())
    return [image for image in images if image.url]
