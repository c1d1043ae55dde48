"""The tables. One concept per file; each model groups factories, mutators, queries, properties."""

from knowledge.models.file import File, FileKind, FileStatus
from knowledge.models.project import Project

__all__ = ["File", "FileKind", "FileStatus", "Project"]
