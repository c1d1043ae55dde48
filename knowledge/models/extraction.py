"""Extraction: the result of reading a file; the kinds and statuses of files."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from django.db import models

from knowledge.texts.reading import Reading


class FileKind(models.TextChoices):
    TEXT = "text"
    IMAGE = "image"
    TABULAR = "tabular"  # the text is a preview: columns and first rows


class FileStatus(models.TextChoices):
    PROCESSING = "processing"  # stored; its text is being extracted
    READY = "ready"
    FAILED = "failed"


class Extraction(NamedTuple):
    """The result of reading a file.

    notes_length: length of the reader's notes at the beginning of the text, in characters; no search finds them.
    content, thumbnail: paths in the storage, or empty; `content` replaces the upload.
    """

    kind: FileKind
    content_type: str
    text: str = ""
    token_count: int = 0
    width_px: int | None = None
    height_px: int | None = None
    content: str = ""
    size_bytes: int = 0
    thumbnail: str = ""
    tokens_by_encoding: Mapping[str, int] = MappingProxyType({})
    notes_length: int = 0
    reading: Reading = Reading()
