"""Pagination of lists of millions of rows without counting all of them."""

from functools import cached_property
from typing import Any, Final

from django.core.paginator import Paginator
from django.db import connection

# The maximum number of rows that is counted; larger results show this number.
MAX_COUNTED: Final = 10_000
# The planner's estimate is used above this number: below, counting is fast, and the table may never have been analysed.
MIN_ESTIMATE: Final = 50_000


class EstimatingPaginator(Paginator[Any]):
    """A paginator that uses the planner's estimate for a whole large table.

    Otherwise it counts up to MAX_COUNTED rows; pages after them are reachable only by narrowing the search.
    """

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        if not rows.query.where and not rows.query.is_sliced:
            estimate = _estimate_rows(rows.model._meta.db_table)  # noqa: SLF001  Django's documented model API
            if estimate > MIN_ESTIMATE:
                return estimate
        return int(rows.order_by()[:MAX_COUNTED].count())


def _estimate_rows(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(%s)", [table])
        row = cursor.fetchone()
    return row[0] if row else 0
