"""Parses the body of a chat completion that is not streamed. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from chat.transcript.token_usage import TokenUsage
from llm_worker.upstream.chunks import reported_failure
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.usage import ReportedUsage

# Completions that are not streamed are titles and summaries.
MAX_COMPLETION_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Completion:
    """finish_reason: the server's, or "refusal"; empty if there is none. The text may be empty."""

    text: str
    finish_reason: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)


class CompletionClient(Protocol):
    """llm.LanguageModels, or a fake."""

    async def complete(self, request: Request) -> Completion: ...


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: ReportedUsage | None = None
    error: Any = None
    object: Any = None


def parse_completion(body: bytes) -> Completion:
    """Raises ModelFailed if the body is no completion, too long for one, or reports an error."""
    if len(body) > MAX_COMPLETION_BYTES:
        raise ModelFailed("upstream_malformed", "the completion does not end")
    read = _read(body)
    if read.error or read.object == "error":
        raise reported_failure(body.decode("utf-8", "replace"))
    if not read.choices or read.choices[0].message is None:
        raise ModelFailed("upstream_malformed", f"no answer in {body[:100]!r}")
    choice, message = read.choices[0], read.choices[0].message
    return Completion(
        text=message.content or message.refusal or "",
        finish_reason="refusal" if message.refusal else choice.finish_reason or "",
        usage=read.usage.to_usage() if read.usage else TokenUsage(),
    )


def _read(body: bytes) -> _Body:
    # The standard decoder, which accepts lone surrogates; its speed does not matter here.
    try:
        return msgspec.convert(json.loads(body.decode("utf-8", "replace")), _Body)
    except (ValueError, RecursionError) as error:
        raise ModelFailed("upstream_malformed", f"not a completion: {body[:100]!r}") from error
