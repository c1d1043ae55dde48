"""The tables, one model per file; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from knowledge.models.file import File, FileKind, FileStatus
from knowledge.models.project import Project

__all__ = ["File", "FileKind", "FileStatus", "Project"]
