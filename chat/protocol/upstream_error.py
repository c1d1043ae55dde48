"""UpstreamError: what a model server said when it failed. Pure."""

from typing import Final, NamedTuple

MAX_CODE_CHARACTERS: Final = 100
MAX_MESSAGE_CHARACTERS: Final = 2_000


class UpstreamError(NamedTuple):
    """For staff; redacted and capped (llm_worker/upstream/redaction.py).

    status: of HTTP, None without a response.  code: the server's own, or its error's type; may be empty.
    message: may be our own, where the server said nothing.
    """

    status: int | None = None
    code: str = ""
    message: str = ""


NO_UPSTREAM_ERROR: Final = UpstreamError()
