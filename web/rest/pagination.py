"""Parsing of page sizes and cursors. A value out of range is an error and is never clamped."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final

from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from chat.presenters.page_bytes import count_fitting, text_bytes
from chat.protocol.answer import ADDRESS, Answer
from chat.protocol.errors import ApiError
from web.rest.openapi import TEXT, query, whole_number

MAX_PAGE: Final = 1000
# Ten digits: int() of a very long text is slow, and nothing is counted that far.
MAX_COUNT: Final = 10**10 - 1
# Years of times that clients send: near the ends of the calendar, days and time zones overflow.
YEARS: Final = range(1970, 9000)


def page_size(parameters: Mapping[str, str], default: int | None, highest: int = MAX_PAGE) -> int | None:
    """Parse `limit` (or `page_size`), from 1 to `highest`. Raises ApiError."""
    text = parameters.get("limit", parameters.get("page_size"))
    if text is None:
        return default
    # Ten digits: int() of a very long text is slow, and no page is that long.
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= highest):
        raise ApiError("invalid_pagination", f"The page size must be from 1 to {highest}.")
    return int(text)


def page_number(parameters: Mapping[str, str]) -> int:
    """Parse `page`, which is from 1 and defaults to 1. Raises ApiError."""
    return parse_count(parameters, "page", 1, ApiError("invalid_pagination"))


def parse_count(parameters: Mapping[str, str], name: str, default: int, refusal: ApiError) -> int:
    """Parse a number from 0 to MAX_COUNT. Raises `refusal`."""
    text = parameters.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_COUNT))):
        raise refusal
    return int(text)


class Page(Answer):
    """The description of a paginator's page; its subclasses have `results`."""

    next: Annotated[str | None, ADDRESS]
    previous: Annotated[str | None, ADDRESS]


class NewestFirstPagination(CursorPagination):
    """Cursor pagination by the latest update.

    long_columns: the texts of a row whose bytes end a page early; empty: rows are short.
    """

    long_columns: ClassVar[tuple[str, ...]] = ()
    _most: int | None = None

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
    ordering = ("-updated_at", "-id")

    def get_page_size(self, request: Request) -> int | None:
        return self._most or page_size(request.query_params, self.page_size, self.max_page_size)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        if not self.long_columns:
            return super().paginate_queryset(queryset, request, view) or []
        order = [name.removeprefix("-") for name in self.ordering]
        measured = queryset.values("pk", *order, page_bytes=text_bytes(*self.long_columns))
        page: list[Any] = super().paginate_queryset(measured, request, view) or []
        sizes = [row["page_bytes"] for row in page]
        self._most = count_fitting(reversed(sizes) if self.cursor and self.cursor.reverse else sizes)
        if self._most < len(page):
            page = super().paginate_queryset(measured, request, view) or []
        rows = queryset.in_bulk([row["pk"] for row in page])
        return [rows[row["pk"]] for row in page if row["pk"] in rows]

    def decode_cursor(self, request: Request) -> Any:
        try:
            cursor = super().decode_cursor(request)
            if cursor and cursor.position is not None:
                _check_position(str(cursor.position))
        except (NotFound, ValueError):
            raise ApiError("invalid_pagination", "The cursor is not valid.") from None
        return cursor


# The parameters of each list with such pages, in the OpenAPI document.
PAGE_PARAMETERS: Final = (
    query("limit", whole_number(1, NewestFirstPagination.max_page_size), "Page size."),
    query("cursor", TEXT, "The cursor in `next`."),
)


def _check_position(text: str) -> None:
    """Raise ValueError unless this is a time in the format of our cursors, which Postgres and Django accept too."""
    moment = datetime.fromisoformat(text)
    if moment.utcoffset() != timedelta(0) or moment.year not in YEARS or text != str(moment):
        raise ValueError(text)


class NewestUploadPagination(NewestFirstPagination):
    ordering = ("-created_at", "-id")
