"""AttemptFailed: why one attempt at a request failed, and whether another one may succeed. Pure."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.error_report import read_error
from llm_worker.upstream.failure_codes import TRANSIENT, classify_status
from llm_worker.upstream.redirects import REDIRECTS_TO, address_of

RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 529})
# With a longer Retry-After the run fails at once: the user is told that the server is busy.
LONGEST_RETRY_AFTER_S: Final = 30.0
RETRIES: Final = 2
# Codes of a server that could not read the calls of its model, which mostly writes others when it is asked again (Groq).
ASKED_ONCE_MORE: Final = frozenset({"tool_use_failed"})


@dataclass
class AttemptFailed(Exception):
    """One attempt failed. is_retryable: another one may succeed, if nothing was received yet."""

    failure: ModelFailed
    is_retryable: bool = False
    retry_after_s: float | None = None

    def may_be_retried(self, retries_left: int) -> bool:
        """Return whether another attempt is made. retries_left: 0 once something was received."""
        if self.failure.upstream_code in ASKED_ONCE_MORE:
            return retries_left == RETRIES
        return retries_left > 0 and self.is_retryable

    def wait_s(self, otherwise_s: float) -> float:
        if self.retry_after_s is not None:
            return self.retry_after_s
        # Jitter of up to a quarter, so that runs that failed together do not retry together.
        return otherwise_s * random.uniform(0.75, 1.0)  # noqa: S311


def status_failure(status: int, said: str, headers: Mapping[str, str]) -> AttemptFailed:
    """Build the failure of a response with an error status, or with a redirect that is not followed."""
    report = read_error(said)
    code = classify_status(status, report)
    message = report.message
    if 300 <= status < 400:
        message = REDIRECTS_TO + address_of(headers.get("location", ""))
    retry_after_s = _retry_after_s(headers.get("retry-after", ""))
    too_long = retry_after_s is not None and retry_after_s > LONGEST_RETRY_AFTER_S
    return AttemptFailed(
        ModelFailed(code, message, status, report.code),
        is_retryable=status in RETRIED_STATUSES and code in TRANSIENT and not too_long,
        retry_after_s=retry_after_s,
    )


def _retry_after_s(header: str) -> float | None:
    """Parse Retry-After as seconds; None for no header, a date (which depends on two clocks) or an invalid value."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
