"""Reads the token usage that model servers report, streamed or not. Pure.

Figures about an answer never decide whether there is one: a value that is not a count is unknown.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from chat.transcript.usage import MAX_TOKENS, TokenUsage

_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]


class _PromptDetails(msgspec.Struct):
    cached_tokens: _Count | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: _Count | None = None


class ReportedUsage(msgspec.Struct):
    """The `usage` object as specified. Other forms are read by read_usage()."""

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None

    def to_usage(self) -> TokenUsage:
        prompt, completion = self.prompt_tokens_details, self.completion_tokens_details
        return TokenUsage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cached_tokens=prompt.cached_tokens if prompt else None,
            reasoning_tokens=completion.reasoning_tokens if completion else None,
        )


def read_usage(reported: object) -> TokenUsage | None:
    """Read the counts, rounded and limited to 0 to MAX_TOKENS; None if `reported` is not an object."""
    if not isinstance(reported, Mapping):
        return None
    prompt, completion = (_details(reported, name) for name in ("prompt", "completion"))
    return TokenUsage(
        prompt_tokens=_count(reported.get("prompt_tokens")),
        completion_tokens=_count(reported.get("completion_tokens")),
        cached_tokens=_count(prompt.get("cached_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens")),
    )


def _details(reported: Mapping[str, Any], of: str) -> Mapping[str, Any]:
    details = reported.get(f"{of}_tokens_details")
    return details if isinstance(details, Mapping) else {}


def _count(value: object) -> int | None:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return MAX_TOKENS if isinstance(value, int) and value > 0 else None
    if isinstance(value, bool) or not math.isfinite(number):
        return None
    return round(min(max(number, 0), MAX_TOKENS))
