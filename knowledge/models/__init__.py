"""The tables, one model per file; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from knowledge.models.deleted_blob import DeletedBlob
from knowledge.models.file import Extraction, File, FileKind, FileStatus
from knowledge.models.file_passage import FilePassage
from knowledge.models.project import Project

__all__ = ["DeletedBlob", "Extraction", "File", "FileKind", "FilePassage", "FileStatus", "Project"]
