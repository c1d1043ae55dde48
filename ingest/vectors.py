"""Computes the vectors of waiting chunks for some seconds, and then leaves the turn to other messages of the queue.

Batches span files, and owners take turns in them (decision 0094). One worker at a time holds the lease of a model. If
it is killed, the next worker computes the batch again; a vector is stored once.
"""

import logging
import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chat.events import knowledge_bases as base_events
from chat.infrastructure.fault_points import reach
from ingest import drain
from knowledge.models import ChunkVector, Document, EmbeddingModel
from knowledge.search.embedders import Embedder, EmbeddingFailed, TextRefused, Vector, embedder_of
from knowledge.search.indexing import missing_in_turns, store_chunks_again, usable_embedder

logger = logging.getLogger(__name__)

# Files wait for a slice, and for the batch that is in work at its end. With a packaged model, a slice is one batch.
SLICE_S: Final = 2.0
# Chunks that are checked for a vector of the same text before a batch is computed; the index takes some milliseconds
# for each.
_LOOKED_AT: Final = 200
# The text of the first call, which returns the number of dimensions.
_PROBE: Final = "dimensions"


def compute_waiting() -> bool:
    """Compute vectors for a slice; return whether more may wait.
    False also if another worker has the lease or the model fails.
    """
    if usable_embedder() is None:
        return False
    are_texts_left = _store_missing_chunks()
    EmbeddingModel.objects.register(settings.EMBEDDINGS_MODEL)
    # Until the chosen model is complete, new chunks get vectors of the previous model first: searches use these.
    embedders = [(model.name, embedder_of(model.name)) for model in EmbeddingModel.objects.in_use()]
    has_more = any(_compute_waiting_of(name, embedder) for name, embedder in embedders if embedder)
    return has_more or are_texts_left


def _store_missing_chunks() -> bool:
    """Store the chunks of one text of each owner, and of more for a slice; return whether texts are left."""
    limit = time.monotonic() + SLICE_S
    for place, file in missing_in_turns():
        if drain.has_begun() or (place > 1 and time.monotonic() > limit):
            return True
        store_chunks_again(file)
    return False


def _compute_waiting_of(name: str, embedder: Embedder) -> bool:
    model = EmbeddingModel.objects.claim(name)
    if model is None:
        return False
    reach("after_vectors_claim")
    try:
        if model.dimensions is None and ChunkVector.objects.waiting().filter(model=model).exists():
            model.set_dimensions(len(embedder.embed_passages([_PROBE])[0]))
        has_more = _work(model, embedder)
    except EmbeddingFailed as error:
        # The lease stays, so that the sweeper sends no other worker to a failing server before it ends.
        logger.warning("vectors of %s are computed later: %s", name, error)
        return False
    if not has_more and model.completed_at is None:
        has_more = not model.complete()
    model.release()
    return has_more


def _work(model: EmbeddingModel, embedder: Embedder) -> bool:
    files: set[UUID] = set()
    try:
        return _work_until(time.monotonic() + SLICE_S, model, embedder, files)
    finally:
        # Once per slice: members see the progress of the documents.
        for base in (
            Document.objects.filter(pk__in=files)
            .order_by()
            .values_list("knowledge_base", flat=True)
            .distinct()
        ):
            base_events.publish_content_changed(base)


def _work_until(limit: float, model: EmbeddingModel, embedder: Embedder, files: set[UUID]) -> bool:
    """Compute batches until `limit` (monotonic clock); return whether there may be more.
    `files` gets the files of the chunks that got vectors.
    """
    while time.monotonic() < limit and not drain.has_begun():
        turns = ChunkVector.objects.next_turns(model, _LOOKED_AT)
        if not turns:
            return False
        copied = ChunkVector.objects.copy_equal(model, [turn.pk for turn in turns])
        batch = [turn for turn in turns if turn.pk not in copied][: embedder.batch]
        rows = ChunkVector.objects.filter(pk__in=[*copied, *(turn.pk for turn in batch)])
        waiting = rows.waiting().select_related("chunk").defer("chunk__words")
        # In the order of locks when chunks are deleted; some may have been deleted meanwhile.
        if found := list(waiting.order_by("id")):
            _compute(found, model, embedder)
        files.update(rows.values_list("chunk__file", flat=True))
        if not model.end_turn((batch or turns)[-1].owner):
            logger.warning("another worker computes the vectors of %s", model)
            return False
    return True


def _compute(batch: Sequence[ChunkVector], model: EmbeddingModel, embedder: Embedder) -> None:
    texts = list(dict.fromkeys(row.chunk.text for row in batch))
    vectors = _embed(texts, embedder)
    for vector in vectors.values():
        if isinstance(vector, list) and len(vector) != model.dimensions:
            raise EmbeddingFailed(f"{len(vector)} dimensions instead of {model.dimensions}")
    reach("before_vectors_stored")
    with transaction.atomic():
        for row in batch:
            vector = vectors[row.chunk.text]
            if isinstance(vector, str):
                ChunkVector.objects.give_up(row.pk, vector)
            else:
                ChunkVector.objects.record(row.pk, vector)
    reach("after_vectors_stored")


def _embed(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector | str]:
    """Return for each text its vector, or why it gets none. Raises EmbeddingFailed if the model fails for any text."""
    try:
        return dict(zip(texts, embedder.embed_passages(texts), strict=True))
    except TextRefused:
        pass
    except EmbeddingFailed:
        raise
    except Exception:
        logger.exception("a batch of chunks fails; its texts are computed one by one")
    return {text: _embed_alone(text, embedder) for text in texts}


def _embed_alone(text: str, embedder: Embedder) -> Vector | str:
    try:
        return embedder.embed_passages([text])[0]
    except TextRefused as error:
        _check_works(embedder)
        logger.warning("a chunk gets no vector: %s", error)
        return str(error) or "refused"
    except EmbeddingFailed:
        raise
    except Exception as error:
        _check_works(embedder)
        logger.exception("a chunk gets no vector")
        return f"fails: {type(error).__name__}"


def _check_works(embedder: Embedder) -> None:
    """Raise EmbeddingFailed if not the text but the model fails."""
    try:
        embedder.embed_passages([_PROBE])
    except EmbeddingFailed:
        raise
    except Exception as error:
        raise EmbeddingFailed(f"the model fails: {type(error).__name__}") from error
