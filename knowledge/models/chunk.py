"""Chunk: a part of a text, the unit that searches return."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Self
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models, transaction
from django.db.models import Case, F, Q, QuerySet, When

from knowledge.models.extraction import FileStatus
from knowledge.models.file import File
from knowledge.texts.chunking import ChunkText
from knowledge.texts.searched_text import Language, detect_language

# Chunks of one transaction; other transactions that change the file wait for its end.
BATCH: Final = 200


def hash_content(text: str) -> bytes:
    return sha256(text.encode()).digest()


class ChunkQuerySet(models.QuerySet["Chunk"]):
    # Mutators

    def add(self, file: File, texts: Sequence[tuple[int, ChunkText]]) -> bool:
        """Store chunks, by position, under the version of this attempt; existing chunks stay.

        Searches find them once the file names this version. A chunk gets the vector of another chunk with the same
        text, if there is one. False: another attempt holds the file.
        """
        with transaction.atomic():
            if not file.hold_for_chunks():
                return False
            places = (texts[0][0], texts[-1][0])
            others = self.filter(file=file, version=file.attempt, position__range=places)
            stored = set(others.values_list("position", flat=True))
            missing = [one for one in texts if one[0] not in stored]
            new = self.bulk_create(Chunk.build(file, position, *text) for position, text in missing)
            apps.get_model("knowledge", "ChunkVector").objects.wait_for(new)
        return True

    def delete_stale(self, pk: UUID) -> int:
        """Delete a batch of a file's chunks that searches do not find; return how many. 0 if the file is being read."""
        vectors = apps.get_model("knowledge", "ChunkVector").objects
        with transaction.atomic():
            ended = (
                File.objects.with_stale_chunks().filter(pk=pk).select_for_update(no_key=True, of=("self",))
            )
            file = ended.only("status", "attempt", "chunks_version").first()
            if file is None:
                return 0
            # Another process may be storing the missing chunks of this attempt.
            is_joining = file.status == FileStatus.READY and file.chunks_version is None
            kept = file.attempt if is_joining else file.chunks_version
            stale = self.filter(file=file)
            if kept is not None:
                stale = stale.exclude(version=kept)
            batch = list(stale.values_list("pk", flat=True)[:BATCH])
            vectors.filter(chunk__in=batch).lock_in_order()
            self.filter(pk__in=batch).delete()
            if len(batch) < BATCH:
                File.objects.filter(pk=pk).update(has_stale_chunks=False)
        return len(batch)

    # Queries

    def found_in(self, files: QuerySet[File]) -> Self:
        """Filter the chunks that searches of these files find."""
        return self.filter(file__in=files, version=F("file__chunks_version"))


class Chunk(models.Model):
    """A part of a file's text. The scope of a search is a condition on the chunks' files (knowledge/search/hybrid_search.py)."""

    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    # The attempt that read the text. Searches find one version of a file's chunks: File.chunks_version.
    version = models.IntegerField()
    position = models.IntegerField()
    start = models.IntegerField()  # offset in the file's text, in characters
    text = models.TextField()
    content_hash = models.BinaryField(max_length=32)
    language = models.CharField(max_length=7, choices=[(one.value, one.name.title()) for one in Language])
    # Stems of its language, or the words as they stand (decision 0106).
    words = models.GeneratedField(
        expression=Case(
            When(language=Language.ENGLISH, then=SearchVector("text", config="english")),
            When(language=Language.GERMAN, then=SearchVector("text", config="german")),
            default=SearchVector("text", config="simple"),
        ),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ("file", "position")
        indexes = [
            *(
                GinIndex(fields=["words"], name=f"chunk_words_{one.value}", condition=Q(language=one.value))
                for one in Language
            ),
            models.Index(F("content_hash"), name="chunk_content"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["file", "version", "position"], name="one_chunk_per_position"),
            models.CheckConstraint(
                condition=models.Q(version__gte=0, position__gte=0, start__gte=0),
                name="chunk_place_not_negative",
            ),
            models.CheckConstraint(condition=Q(language__in=list(Language)), name="chunk_language_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} from {self.start}"

    # Factories

    @classmethod
    def build(cls, file: File, position: int, start: int, text: str) -> Chunk:
        """Create a chunk without storing it."""
        return cls(
            file=file,
            version=file.attempt,
            position=position,
            start=start,
            text=text,
            content_hash=hash_content(text),
            language=detect_language(text),
        )
