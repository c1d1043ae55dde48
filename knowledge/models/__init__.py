"""The tables, one model per file; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from knowledge.models.chunk import Chunk
from knowledge.models.chunk_vector import ChunkVector, EmbeddingModel
from knowledge.models.document import Document, DocumentVersion, ServedVersion
from knowledge.models.extraction import Extraction, FileKind, FileStatus
from knowledge.models.file import DeletedBlob, File
from knowledge.models.knowledge_base import KnowledgeBase, KnowledgeBaseMember, MemberRole, MembershipChange
from knowledge.models.project import Project

__all__ = [
    "Chunk",
    "ChunkVector",
    "DeletedBlob",
    "Document",
    "DocumentVersion",
    "EmbeddingModel",
    "Extraction",
    "File",
    "FileKind",
    "FileStatus",
    "KnowledgeBase",
    "KnowledgeBaseMember",
    "MemberRole",
    "MembershipChange",
    "Project",
    "ServedVersion",
]
