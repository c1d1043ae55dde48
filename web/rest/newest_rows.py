"""Lists of rows of which a user has few: latest update first, in pages that begin after a row of the previous page.
A page whose rows are long ends early; the header Link has the address of the next one.
"""

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from chat.presenters.page_bytes import count_fitting, text_bytes
from web.rest.api_view import get_own_row
from web.rest.openapi import ID, query, whole_number
from web.rest.pagination import page_size

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
