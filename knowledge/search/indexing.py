"""Indexes texts for searches, and again when the embedding model changes. Reads and writes the database.

Chunks are stored in short transactions under the version of the attempt that read the text. Searches find them once the
file names that version, when all are stored. Until then they find the previous version, which is deleted afterwards.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from knowledge.models import Chunk, ChunkVector, EmbeddingModel, File, FileKind, FileStatus
from knowledge.models.chunk import BATCH, ChunkQuerySet
from knowledge.search.embedders import Embedder, chosen_embedder, embedder_of
from knowledge.search.vector_extension import has_vector_extension
from knowledge.texts.chunking import split_chunks


def searchable(files: QuerySet[File]) -> QuerySet[File]:
    """Filter the files whose text searches find, as far as it has chunks, also while the text is being read again.

    A document whose new version failed is found by its previous version.
    """
    is_of_people = Q(project__isnull=False) & ~Q(status=FileStatus.FAILED) | Q(knowledge_base__isnull=False)
    return files.filter(is_of_people).exclude(kind=FileKind.IMAGE)


def store_chunks(file: File, text: str, notes_length: int = 0) -> Iterator[bool]:
    """Store the chunks of a text; yield after each transaction whether it succeeded.

    The last value is False if another attempt holds the file.
    notes_length: number of characters at the beginning that no search finds.
    """
    chunks = enumerate(split_chunks(" " * notes_length + text[notes_length:]))
    while batch := list(islice(chunks, BATCH)):
        is_held = Chunk.objects.add(file, batch)
        yield is_held
        if not is_held:
            break


def store_missing_chunks(files: QuerySet[File]) -> int:
    """Store the chunks of ready files that have none; return how many files these were.
    They joined their project after they became ready, or are older than the table of chunks.
    """
    found = list(_without_chunks(files).only("status", "attempt"))
    for file in found:
        store_chunks_again(file)
    return len(found)


def missing_in_turns() -> Iterator[tuple[int, File]]:
    """List the searchable files that have no chunks, each with its round, from 1.
    Each owner has one file in a round, the smallest text first.
    """
    place = Window(RowNumber(), partition_by="owner", order_by=("token_count", "pk"))
    missing = _without_chunks(File.objects.all()).annotate(place=place).order_by("place", "token_count")
    for file in missing.only("status", "attempt"):
        yield file.place, file


def store_chunks_again(file: File) -> None:
    """Store the chunks of a ready file that has none.
    If the text is being read again meanwhile, nothing is stored: it belongs to another attempt.
    """
    stored = File.objects.filter(pk=file.pk).values_list("text", "notes_length").first()
    text, notes_length = stored or ("", 0)
    if all(store_chunks(file, text, notes_length)) and file.serve_chunks():
        delete_stale_chunks(file.pk)


def _without_chunks(files: QuerySet[File]) -> QuerySet[File]:
    return searchable(files).filter(chunks_version__isnull=True, status=FileStatus.READY)


def delete_stale_chunks(pk: UUID) -> None:
    """Delete the chunks of an ended file that searches do not find, in short transactions. Idempotent."""
    while Chunk.objects.delete_stale(pk) == BATCH:
        pass


def usable_embedder() -> Embedder | None:
    """Return the embedder for searches. None, by the settings or without the extension: searches use words alone."""
    embedder = chosen_embedder()
    return embedder if embedder and has_vector_extension() else None


def vectors_wait() -> bool:
    """Return whether chunks lack a vector or a model is not complete, and no worker has leased that model."""
    if not usable_embedder():
        return False
    models = EmbeddingModel.objects
    if not models.is_registered(settings.EMBEDDINGS_MODEL):
        return Chunk.objects.exists()
    computed = [model.pk for model in models.in_use() if embedder_of(model.name)]
    waits = Exists(ChunkVector.objects.waiting().filter(model=OuterRef("pk")))
    return models.free().filter(Q(completed_at__isnull=True) | waits, pk__in=computed).exists()


def is_indexing(files: QuerySet[File]) -> bool:
    """Return whether a search will find more later: texts are being extracted, or chunks have no vector yet."""
    if files.filter(status=FileStatus.PROCESSING).exists():
        return True
    return chunks_without_vector(files).exists()


def chunks_without_vector(files: QuerySet[File]) -> ChunkQuerySet:
    """Return the chunks of `files` that searches find by words alone until they have a vector."""
    return _without_vector(Chunk.objects.found_in(searchable(files)))


def _without_vector(chunks: ChunkQuerySet) -> ChunkQuerySet:
    """Filter the chunks that wait for a vector of the model that searches use.
    The result is empty without a model in the settings or without the extension.
    """
    if not usable_embedder():
        return chunks.none()
    model = EmbeddingModel.objects.serving()
    if model is None:
        return chunks
    return chunks.filter(pk__in=ChunkVector.objects.waiting().filter(model=model).values("chunk"))


class ModelState(StrEnum):
    SERVING = "searches use it"
    COMPUTING = "being computed"
    UNUSED = "not used"


class ModelProgress(NamedTuple):
    """The progress of one embedding model, in numbers of chunks.
    vectors: chunks with a vector.  refused: chunks whose text the model refuses.  waiting: chunks without a vector yet.
    """

    name: str
    state: ModelState
    vectors: int
    refused: int
    waiting: int
    index_bytes: int


def model_progress() -> list[ModelProgress]:
    """Return the progress of all models, in the order in which they were registered."""
    models = EmbeddingModel.objects
    states = {model.pk: ModelState.COMPUTING for model in models.in_use()}
    if serving := models.serving():
        states[serving.pk] = ModelState.SERVING
    rows = ChunkVector.objects.values("model").annotate(
        vectors=Count("pk", filter=Q(vector__isnull=False)),
        refused=Count("pk", filter=~Q(error="")),
        waiting=Count("pk", filter=Q(vector__isnull=True, error="")),
    )
    counts = {row["model"]: (row["vectors"], row["refused"], row["waiting"]) for row in rows.order_by()}
    return [
        ModelProgress(
            model.name,
            states.get(model.pk, ModelState.UNUSED),
            *counts.get(model.pk, (0, 0, 0)),
            index_bytes=_index_bytes(model),
        )
        for model in models.order_by("pk")
    ]


def drop_unused() -> list[str]:
    """Delete the models that another one has replaced, with their vectors and indexes; return their names."""
    unused = list(EmbeddingModel.objects.unused())
    for model in unused:
        model.drop()
    return [model.name for model in unused]


def _index_bytes(model: EmbeddingModel) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_relation_size(to_regclass(%s)), 0)", [model.index_name])
        [(size,)] = cursor.fetchall()
    return int(size)
