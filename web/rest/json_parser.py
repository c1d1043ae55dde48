"""Parsing of a request body: one strict JSON object of bounded size."""

from collections.abc import Mapping
from typing import IO, Any, Final

from rest_framework.parsers import BaseParser

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import MAX_VALUES, decode

# The longest accepted message, every character written as a surrogate pair of \u escapes, is 1.2 MB.
MAX_BODY_BYTES: Final = 8 * 1024 * 1024


class StrictJSONParser(BaseParser):
    media_type = "application/json"
    max_bytes = MAX_BODY_BYTES
    max_values = MAX_VALUES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        body = stream.read(self.max_bytes + 1)
        if len(body) > self.max_bytes:
            raise ApiError("body_too_large", limit=self.max_bytes)
        return decode(body, max_values=self.max_values)
