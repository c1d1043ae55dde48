"""Converts passages that file searches find to documents of a tool's response, which have no numbers yet."""

from typing import Final

from chat.transcript.entries import Document, Passage
from knowledge.models.sql.chunk_search import FoundChunk

# The maximum number of passages of one search.
LIMIT: Final = 8


def as_document(chunk: FoundChunk, **metadata: str) -> Document:
    """Convert a chunk to a document. metadata: shown to the model besides the start of the passage."""
    return Document(
        number=0,
        document_id=str(chunk.file),
        title=chunk.name,
        contents=chunk.text,
        url=chunk.url,
        metadata={**metadata, "start": str(chunk.start)},
        passage=Passage(chunk.start, len(chunk.text)),
        knowledge_base=str(chunk.knowledge_base or ""),
    )
