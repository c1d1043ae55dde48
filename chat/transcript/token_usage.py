"""TokenUsage: the token counts that a model server reports, for one request or summed over a run. Pure."""

from typing import NamedTuple


class TokenUsage(NamedTuple):
    """None: the server reported no such count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
