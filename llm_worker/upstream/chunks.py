"""One chunk of a streamed chat completion: bytes in, deltas out. Pure; knows the dialects of model servers."""

import json
from typing import Any

import msgspec

from llm_worker.upstream.deltas import (
    NO_INDEX,
    Delta,
    Finished,
    ModelFailed,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from llm_worker.upstream.usage import ReportedUsage


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None  # JSON in a string, by the rules; some servers send the object itself


class _ToolCall(msgspec.Struct):
    index: Any = None
    id: Any = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None  # DeepSeek, vLLM, llama.cpp
    reasoning: str | None = None  # OpenRouter, Ollama, newer vLLM
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None  # what tool_calls replaced; old servers still speak it


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: ReportedUsage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode


def parse_chunk(data: bytes) -> list[Delta]:
    """What one chunk says. Raises ModelFailed if it is no chunk, or if it reports an error."""
    chunk = _read(data)
    if chunk.error:
        raise ModelFailed("upstream_interrupted", f"the stream reported {str(chunk.error)[:300]}")
    deltas: list[Delta] = []
    for choice in chunk.choices or ():
        if choice.delta is not None:
            _say(choice.delta, deltas)
        if choice.finish_reason:
            deltas.append(Finished(choice.finish_reason))
    if chunk.usage is not None:
        deltas.append(chunk.usage.to_usage())
    return deltas


def _say(delta: _Delta, deltas: list[Delta]) -> None:
    if thought := delta.reasoning_content or delta.reasoning:
        deltas.append(ReasoningDelta(thought))
    if delta.content:
        deltas.append(TextDelta(delta.content))
    if delta.refusal:
        # Shown, for the reader to see why; the run ends as refused all the same.
        deltas += (TextDelta(delta.refusal), Finished("refusal"))
    if delta.tool_calls:
        deltas += map(_called, delta.tool_calls)
    if delta.function_call:
        deltas.append(_called(_ToolCall(function=delta.function_call)))


def _called(call: _ToolCall) -> ToolCallDelta:
    function = call.function or _Function()
    return ToolCallDelta(
        place=call.index if type(call.index) is int and call.index >= 0 else NO_INDEX,
        id="" if call.id is None else str(call.id),
        name=function.name or "",
        arguments=_as_text(function.arguments),
    )


def _as_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


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
