"""Passages that searches of files find, as the documents of a tool's response. They have no numbers yet."""

from typing import Final

from chat.transcript.entries import Document, Passage
from knowledge.models.sql.chunk_search import FoundChunk

# Passages of one search.
LIMIT: Final = 8


def as_document(chunk: FoundChunk, **metadata: str) -> Document:
    """metadata: what the model is told beside where the passage begins."""
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
