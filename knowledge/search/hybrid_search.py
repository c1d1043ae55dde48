"""Searches files by words and by vectors. Reads and writes the database."""

import logging

from django.db.models import QuerySet

from knowledge.models import EmbeddingModel, File
from knowledge.models.sql.chunk_search import FoundChunk, QueryVector, search_chunks
from knowledge.search.embedders import EmbeddingFailed, embedder_of
from knowledge.search.indexing import searchable, store_missing_chunks, usable_embedder

logger = logging.getLogger(__name__)


def search_files(files: QuerySet[File], query: str, limit: int) -> list[FoundChunk]:
    """Return the chunks that match the query, best first. `files`: all that the user may search; no others are read."""
    store_missing_chunks(files)
    return search_chunks(searchable(files), query, embed_query(query), limit)


def embed_query(query: str) -> QueryVector | None:
    """Compute the vector of a query. None: the search uses words alone."""
    if not query.strip() or not usable_embedder():
        return None
    model = EmbeddingModel.objects.serving()
    embedder = embedder_of(model.name) if model else None
    if embedder is None or model is None or model.dimensions is None:
        return None
    try:
        vector = embedder.embed_query(query)
    except EmbeddingFailed as error:
        logger.warning("searching by words alone, the query has no embedding: %s", error)
        return None
    if len(vector) != model.dimensions:
        logger.error("%s now has %s dimensions, its index has %s", model, len(vector), model.dimensions)
        return None
    if not any(vector):
        return None  # without a direction it would be equally near to every text
    return QueryVector(model.pk, vector)
