"""Names the option of a request that its server refused, by what the server said. Pure."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request

# Names of options at servers, besides our own names.
_CALLED: Final[Mapping[str, tuple[str, ...]]] = {
    "max_output_tokens": ("max_tokens", "max_completion_tokens"),
    "response_format": ("json_schema", "json_object", "guided_json"),
    "reasoning_effort": (r"reasoning\.effort", "thinking"),
}
_REFUSALS: Final = frozenset({400, 422, None})


def name_refused_option(failure: ModelFailed, request: Request) -> ModelFailed:
    """Return the failure; if it is a rejection that names an option of the request, with that as its reason."""
    if failure.code != "upstream_rejected" or failure.status not in _REFUSALS:
        return failure
    said = failure.searched
    for name in request.options:
        names = "|".join((name, *_CALLED.get(name, ())))
        if re.search(rf"(?<![a-z_])(?:{names})(?![a-z_])", said):
            return replace(failure, code="upstream_option_rejected", option=name)
    return failure
