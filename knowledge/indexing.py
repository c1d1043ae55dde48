"""What searches need of texts: chunks, stored with the text, and their vectors, which follow. Reads and writes the database."""

from django.db import transaction
from django.db.models import Q, QuerySet

from knowledge.chunking import split_chunks
from knowledge.embedders.choice import chosen_embedder
from knowledge.embedders.embedder import Embedder
from knowledge.models import Chunk, ChunkVector, EmbeddingModel, Extraction, File, FileKind, FileStatus
from knowledge.vector_extension import has_vector_extension


def searchable(files: QuerySet[File]) -> QuerySet[File]:
    """Those of `files` whose text can be found."""
    return files.filter(status=FileStatus.READY, project__isnull=False).exclude(kind=FileKind.IMAGE)


def end_ready(file: File, found: Extraction) -> bool:
    """The text of a project's file is found from the moment it is ready. False if another attempt holds the row."""
    chunks = list(split_chunks(found.text))
    with transaction.atomic():
        if not file.end_ready(found):
            return False
        # One that was read before has chunks of that text, which would be found again now.
        if File.objects.filter(Q(project__isnull=False) | Q(chunks__isnull=False), pk=file.pk).exists():
            Chunk.objects.replace(file.pk, chunks)
    return True


def store_missing_chunks(files: QuerySet[File]) -> int:
    """Of those that joined their project after they became ready, or are older than chunks; return how many had none."""
    missing = list(
        searchable(files).filter(chunks__isnull=True).exclude(text="").values_list("pk", flat=True)
    )
    for pk in missing:
        with transaction.atomic():
            # Locked, since the file may be read again meanwhile.
            file = searchable(File.objects.filter(pk=pk)).select_for_update(no_key=True, of=("self",))
            text = file.values_list("text", flat=True).first()
            if text is not None:
                Chunk.objects.replace(pk, split_chunks(text))
    return len(missing)


def usable_embedder() -> Embedder | None:
    """None: searches find words alone, by the settings or for want of the extension."""
    embedder = chosen_embedder()
    return embedder if embedder and has_vector_extension() else None


def vectors_wait() -> bool:
    """Whether there are chunks without a vector, and nobody works on them."""
    if not usable_embedder():
        return False
    model = EmbeddingModel.objects.chosen()
    if model is None:
        return Chunk.objects.exists()
    return EmbeddingModel.objects.free().filter(pk=model.pk).exists() and (
        ChunkVector.objects.waiting().filter(model=model).exists()
    )


def is_indexing(files: QuerySet[File]) -> bool:
    """Whether a search of these finds more later: texts are being extracted, or have chunks without a vector."""
    if files.filter(status=FileStatus.PROCESSING).exists():
        return True
    if not usable_embedder():
        return False
    chunks = Chunk.objects.filter(file__in=searchable(files))
    model = EmbeddingModel.objects.chosen()
    if model is None:
        return chunks.exists()
    return ChunkVector.objects.waiting().filter(model=model, chunk__in=chunks).exists()
