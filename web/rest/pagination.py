"""Parsing of page sizes and cursors. A value out of range is an error and is never clamped."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from chat.presenters.answer import Answer
from chat.protocol.errors import ApiError
from chat.protocol.member_types import ADDRESS

MAX_PAGE: Final = 1000
# Ten digits.
MAX_PAGES: Final = 10**10 - 1
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
    text = parameters.get("page", "1")
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ApiError("invalid_pagination")
    return int(text)


class Page(Answer):
    """The description of a paginator's page; its subclasses have `results`."""

    next: Annotated[str | None, ADDRESS]
    previous: Annotated[str | None, ADDRESS]


class NewestFirstPagination(CursorPagination):
    """Cursor pagination by the latest update."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
    ordering = ("-updated_at", "-id")

    def get_page_size(self, request: Request) -> int | None:
        return page_size(request.query_params, self.page_size, self.max_page_size)

    def decode_cursor(self, request: Request) -> Any:
        try:
            cursor = super().decode_cursor(request)
            if cursor and cursor.position is not None:
                _check_position(str(cursor.position))
        except (NotFound, ValueError):
            raise ApiError("invalid_pagination", "The cursor is not valid.") from None
        return cursor


def _check_position(text: str) -> None:
    """Raise ValueError unless this is a time in the format of our cursors, which Postgres and Django accept too."""
    moment = datetime.fromisoformat(text)
    if moment.utcoffset() != timedelta(0) or moment.year not in YEARS or text != str(moment):
        raise ValueError(text)
