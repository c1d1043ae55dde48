"""The tables, one model per file; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from knowledge.models.chunk import Chunk
from knowledge.models.chunk_vector import ChunkVector, EmbeddingModel
from knowledge.models.deleted_blob import DeletedBlob
from knowledge.models.file import Extraction, File, FileKind, FileStatus
from knowledge.models.project import Project

__all__ = [
    "Chunk",
    "ChunkVector",
    "DeletedBlob",
    "EmbeddingModel",
    "Extraction",
    "File",
    "FileKind",
    "FileStatus",
    "Project",
]
