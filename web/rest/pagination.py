"""Parses page sizes and cursors. A value out of range is an error and is never clamped."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from chat.protocol.errors import ApiError

MAX_PAGE: Final = 1000


def page_size(parameters: Mapping[str, str], default: int | None, highest: int = MAX_PAGE) -> int | None:
    """Parse `limit` (or `page_size`), from 1 to `highest`. Raises ApiError."""
    text = parameters.get("limit", parameters.get("page_size"))
    if text is None:
        return default
    # Ten digits: int() of a very long text is slow, and no page is that long.
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= highest):
        raise ApiError("invalid_pagination", f"The page size must be from 1 to {highest}.")
    return int(text)


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
                datetime.fromisoformat(str(cursor.position))
        except (NotFound, ValueError):
            raise ApiError("invalid_pagination", "The cursor is not valid.") from None
        return cursor
