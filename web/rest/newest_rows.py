"""Lists of rows of which a user has few: latest update first, in pages that begin after a row of the previous page."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from web.rest.api_view import get_own_row
from web.rest.openapi import ID, query, whole_number
from web.rest.pagination import page_size

# The size of a page. It is the default of the quotas of agents and projects, so that older clients, which read one
# page, see all rows.
MAX_LISTED: Final = 200


def newest_rows_parameters(plural: str) -> list[OpenApiParameter]:
    return [
        query("limit", whole_number(1, MAX_LISTED), "Page size."),
        query("before", ID, f"Only {plural} behind this one in the list."),
    ]


def read_newest_rows(request: Request, own: Any, noun: str) -> list[Any]:
    """Return the requested page of `own`, the user's rows. Raises ApiError.
    `own` has after(row), which returns the rows after that one.
    """
    limit = page_size(request.query_params, MAX_LISTED, MAX_LISTED)
    if "before" in request.query_params:
        own = own.after(get_own_row(own, request.query_params["before"], noun, field="before"))
    return list(own[:limit])
