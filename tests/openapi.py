"""The OpenAPI document, generated once in a test process: it takes half a second."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator


@cache
def document() -> dict[str, Any]:
    """For reading alone."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return schema
