"""What a project or a knowledge base holds: its files, for its page, and numbers of its rows, for lists."""

from typing import Any, Final

from django.db.models import IntegerField, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from knowledge.models import File

# The newest ones, on the page of what holds them; their list has all.
SHOWN_FILES: Final = 50
_COLUMNS: Final = ("name", "status", "error_code", "kind", "token_count", "size_bytes", "created_at")


def load_held_files(files: QuerySet[File]) -> list[File]:
    """The newest ones, for the template files_table.html."""
    return list(files.only(*_COLUMNS)[:SHOWN_FILES])


def aggregate_held(table: type[Model], holder: str, aggregate: Any) -> Coalesce:
    """An aggregate of the rows that each row of a list holds, by the index of the table's column `holder`. 0 without rows."""
    rows: QuerySet[Any] = table._default_manager.filter(**{holder: OuterRef("pk")}).order_by()  # noqa: SLF001  Django's documented model API
    value = rows.values(holder).annotate(value=aggregate).values("value")
    return Coalesce(Subquery(value, output_field=IntegerField()), 0)
