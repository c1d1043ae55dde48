"""The body of a request: one strict JSON object of bounded size."""

from collections.abc import Mapping
from typing import IO, Any, Final

from rest_framework.parsers import BaseParser

from chat.refusals import Refusal
from chat.strict_json import decode

# The longest accepted message, every character written as a surrogate pair of \u escapes, is 1.2 MB.
MAX_BODY_BYTES: Final = 8 * 1024 * 1024


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise Refusal("body_too_large", limit=MAX_BODY_BYTES)
        return decode(body)
