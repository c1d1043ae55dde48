"""The files and related rows of a project or knowledge base: files for its page, and aggregates for lists."""

from typing import Any, Final

from django.db.models import IntegerField, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from knowledge.models import File

# Displayed files on the page of a project or base, the newest ones; the list of files has all.
SHOWN_FILES: Final = 50
_COLUMNS: Final = ("name", "status", "error_code", "kind", "token_count", "size_bytes", "created_at")


def load_held_files(files: QuerySet[File]) -> list[File]:
    """Return the newest files, for the template files_table.html."""
    return list(files.only(*_COLUMNS)[:SHOWN_FILES])


def aggregate_held(table: type[Model], holder: str, aggregate: Any) -> Coalesce:
    """Return a subquery that aggregates the rows of `table` that belong to each row of a list; 0 without rows.
    holder: the column of `table` that refers to the row of the list. Its index is used.
    """
    rows: QuerySet[Any] = table._default_manager.filter(**{holder: OuterRef("pk")}).order_by()  # noqa: SLF001  Django's documented model API
    value = rows.values(holder).annotate(value=aggregate).values("value")
    return Coalesce(Subquery(value, output_field=IntegerField()), 0)
