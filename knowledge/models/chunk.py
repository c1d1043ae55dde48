"""Chunk: a part of a text, as searches find it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models, transaction
from django.db.models import Case, F, Q, When

from knowledge.chunking import ChunkText
from knowledge.languages import Language, detect_language
from knowledge.models.file import File

# Of one INSERT.
BATCH: Final = 500


def hash_content(text: str) -> bytes:
    return sha256(text.encode()).digest()


class ChunkQuerySet(models.QuerySet["Chunk"]):
    def replace(self, file: UUID, texts: Iterable[ChunkText]) -> bool:
        """Make these the chunks of a file, for all searches at once. False: the file was deleted.

        A chunk whose text is the same stays the row it was, and keeps its vectors.
        """
        with transaction.atomic():
            if not File.objects.filter(pk=file).select_for_update(no_key=True).values_list("pk").first():
                return False
            kept: dict[bytes, list[Chunk]] = {}
            for chunk in self.filter(file=file).defer("text", "words"):
                kept.setdefault(bytes(chunk.content_hash), []).append(chunk)
            new, moved = [], []
            for position, (start, text) in enumerate(texts):
                content_hash = hash_content(text)
                if same := kept.get(content_hash):
                    moved.append(same.pop(0).place(position, start))
                else:
                    language = detect_language(text)
                    new.append(Chunk(file_id=file, position=position, start=start, text=text, content_hash=content_hash, language=language))  # fmt: skip
            self.filter(pk__in=[chunk.pk for left in kept.values() for chunk in left]).delete()
            self.bulk_update(moved, ["position", "start"], BATCH)
            self.bulk_create(new, BATCH)
            apps.get_model("knowledge", "ChunkVector").objects.wait_for(new)
        return True


class Chunk(models.Model):
    """Of a file's text. The scope of a search is a condition on what chunks belong to (knowledge/search.py)."""

    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    position = models.IntegerField()
    start = models.IntegerField()  # of the file's text, in characters
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
            GinIndex(fields=["words"], name="chunk_words"),
            models.Index(F("content_hash"), name="chunk_content"),
        ]
        constraints = [
            # At the end of a transaction, since a replacement moves chunks.
            models.UniqueConstraint(
                fields=["file", "position"],
                name="one_chunk_per_position",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(
                condition=models.Q(position__gte=0, start__gte=0), name="chunk_place_not_negative"
            ),
            models.CheckConstraint(condition=Q(language__in=list(Language)), name="chunk_language_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} from {self.start}"

    def place(self, position: int, start: int) -> Chunk:
        """Of an equal text elsewhere in the file; stored by the caller."""
        self.position, self.start = position, start
        return self
