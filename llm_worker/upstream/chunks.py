"""Parses one chunk of a streamed chat completion into deltas, in the dialects of different model servers. Pure."""

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
from llm_worker.upstream.error_report import read_error
from llm_worker.upstream.failure_codes import classify_reported
from llm_worker.upstream.usage import ReportedUsage


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None  # a JSON string by the specification; some servers send an object


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
    function_call: _Function | None = None  # the predecessor of tool_calls; old servers still send it


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: ReportedUsage | None = None
    error: Any = None
    object: Any = None  # "error" in older vLLM, whose errors are flat


_decode = msgspec.json.Decoder(_Chunk).decode


def parse_chunk(data: bytes) -> list[Delta]:
    """The deltas of one chunk. Raises ModelFailed if it is invalid or reports an error."""
    chunk = _read(data)
    if chunk.error or chunk.object == "error":
        raise reported_failure(data.decode("utf-8", "replace"))
    deltas: list[Delta] = []
    for choice in chunk.choices or ():
        if choice.delta is not None:
            _append_deltas(choice.delta, deltas)
        if choice.finish_reason:
            deltas.append(Finished(choice.finish_reason))
    if chunk.usage is not None:
        deltas.append(chunk.usage.to_usage())
    return deltas


def reported_failure(said: str) -> ModelFailed:
    """The failure that a stream, or the body of a successful response, reports. said: its JSON."""
    report = read_error(said)
    code = classify_reported(report, otherwise="upstream_interrupted")
    return ModelFailed(code, report.message, report.status, report.code)


def _append_deltas(delta: _Delta, deltas: list[Delta]) -> None:
    if thought := delta.reasoning_content or delta.reasoning:
        deltas.append(ReasoningDelta(thought))
    if delta.content:
        deltas.append(TextDelta(delta.content))
    if delta.refusal:
        # Shown, so that the reader sees the reason; the run still ends as refused.
        deltas += (TextDelta(delta.refusal), Finished("refusal"))
    if delta.tool_calls:
        deltas += map(_call_delta, delta.tool_calls)
    if delta.function_call:
        deltas.append(_call_delta(_ToolCall(function=delta.function_call)))


def _call_delta(call: _ToolCall) -> ToolCallDelta:
    function = call.function or _Function()
    return ToolCallDelta(
        place=call.index if type(call.index) is int and call.index >= 0 else NO_INDEX,
        id="" if call.id is None else str(call.id),
        name=function.name or "",
        arguments=_as_text(function.arguments),
    )


def _as_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


def _read(data: bytes) -> _Chunk:
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_leniently(data)


def _read_leniently(data: bytes) -> _Chunk:
    """For text that msgspec rejects: lone surrogates, or a character split between two chunks."""
    try:
        return msgspec.convert(json.loads(data.decode("utf-8", "replace")), _Chunk)
    except (ValueError, RecursionError) as error:
        raise ModelFailed("upstream_malformed", f"not a chunk: {data[:100]!r}") from error
