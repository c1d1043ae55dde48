"""Pages of lists: sizes and cursors, and lists of rows of which a user has few, latest update first.

A page whose rows are long ends early; the header Link has the address of the next one.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from chat.presenters.page_bytes import count_fitting, text_bytes
from chat.protocol.answer import ADDRESS, Answer
from chat.protocol.errors import ApiError
from web.rest.api_view import get_own_row
from web.rest.openapi import ID, TEXT, query, whole_number

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


# The size of a page. It is the default of the quotas of agents and projects, so that older clients, which read one
# page, see all rows.
MAX_LISTED: Final = 200


def newest_rows_parameters(plural: str) -> list[OpenApiParameter]:
    return [
        query("limit", whole_number(1, MAX_LISTED), "At most so many; long ones end a page early."),
        query("before", ID, f"Only {plural} behind this one in the list."),
        OpenApiParameter(
            "Link",
            str,
            OpenApiParameter.HEADER,
            response=True,
            description='`<address>; rel="next"`: of the next page; absent on the last one.',
        ),
    ]


def read_newest_rows(
    request: Request, own: Any, noun: str, long_columns: tuple[str, ...]
) -> tuple[list[Any], dict[str, str]]:
    """Return the requested page of `own`, the user's rows, and the headers of its answer. Raises ApiError.

    `own` has after(row), which returns the rows after that one. long_columns: the texts that may make a page long.
    """
    limit = page_size(request.query_params, MAX_LISTED, MAX_LISTED) or MAX_LISTED
    if "before" in request.query_params:
        own = own.after(get_own_row(own, request.query_params["before"], noun, field="before"))
    sizes = list(own.values_list(text_bytes(*long_columns), flat=True)[: limit + 1])
    rows = list(own[: count_fitting(sizes[:limit])])
    if not rows or len(rows) == len(sizes):
        return rows, {}
    following = replace_query_param(request.build_absolute_uri(), "before", str(rows[-1].pk))
    return rows, {"Link": f'<{following}>; rel="next"'}
