"""One chunk of a streamed chat completion: bytes in, deltas out. Pure; knows the dialects of model servers."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from llm_worker.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta, Usage


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None  # DeepSeek, vLLM, llama.cpp
    reasoning: str | None = None  # OpenRouter, Ollama, newer vLLM
    refusal: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode


def deltas_of(data: bytes) -> Iterator[Delta]:
    """What one chunk says. Raises ModelFailed if it is no chunk, or if it reports an error."""
    chunk = _read(data)
    if chunk.error:
        raise ModelFailed("upstream_interrupted", f"the stream reported {str(chunk.error)[:300]}")
    for choice in chunk.choices or ():
        if choice.delta is not None:
            yield from _said(choice.delta)
        if choice.finish_reason:
            yield Finished(choice.finish_reason)
    if chunk.usage is not None:
        yield _usage(chunk.usage)


def _said(delta: _Delta) -> Iterator[Delta]:
    if thought := delta.reasoning_content or delta.reasoning:
        yield ReasoningDelta(thought)
    if delta.content:
        yield TextDelta(delta.content)
    if delta.refusal:
        # Shown, for the reader to see why; the run ends as refused all the same.
        yield TextDelta(delta.refusal)
        yield Finished("refusal")


def _usage(usage: _Usage) -> Usage:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=prompt.cached_tokens if prompt else None,
        reasoning_tokens=completion.reasoning_tokens if completion else None,
    )


def _read(data: bytes) -> _Chunk:
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_leniently(data)


def _read_leniently(data: bytes) -> _Chunk:
    """For half an emoji: a surrogate escape without its partner, or a character cut between two chunks."""
    try:
        return msgspec.convert(json.loads(data.decode("utf-8", "replace")), _Chunk)
    except (ValueError, RecursionError) as error:
        raise ModelFailed("upstream_malformed", f"not a chunk: {data[:100]!r}") from error
