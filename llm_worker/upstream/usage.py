"""Parses the token usage that model servers report, streamed or not. Pure."""

import msgspec

from chat.transcript.token_usage import TokenUsage


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class ReportedUsage(msgspec.Struct):
    """The `usage` object of the API."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
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
