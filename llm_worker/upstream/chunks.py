"""Parses one chunk of a streamed chat completion into deltas, in the dialects of different model servers. Pure.

A decoder reads the usual types; a chunk that it refuses is read by lenient.py.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import msgspec

from chat.transcript.finish import BROKEN
from llm_worker.upstream.deltas import (
    NO_INDEX,
    Broken,
    Finished,
    Kept,
    ModelFailed,
    Parsed,
    ReasoningDelta,
    Skipped,
    TextDelta,
    ToolCallDelta,
)
from llm_worker.upstream.failures import classify_reported, read_error
from llm_worker.upstream.lenient import ReportedUsage, as_text, read_members


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


def parse_chunk(data: bytes, *, came: Collection[type] = ()) -> list[Parsed]:
    """Parse one chunk into deltas. Raises ModelFailed if it is not a JSON object, or reports nothing but an error.

    came: as read_object().
    """
    try:
        chunk = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return read_object(_object(data), came=came)
    if chunk.error or chunk.object == "error":
        return read_object(_object(data), came=came)
    deltas: list[Parsed] = []
    for choice in chunk.choices or ():
        said = choice.delta
        # A whole answer in one event, or members that are kept unchanged; not while text alone is written.
        if said is None or ((said.tool_calls or not said.content) and _has_kept(data)):
            return read_object(_object(data), came=came)
        _append_deltas(said, deltas)
        if choice.finish_reason:
            deltas.append(Finished(choice.finish_reason))
            if choice.finish_reason.lower() in BROKEN:
                return read_object(_object(data))
    if chunk.usage is not None:
        deltas.append(chunk.usage.to_usage())
    return deltas if deltas or chunk.choices is not None else [Skipped(("chunk",), data)]


def read_object(
    chunk: Mapping[str, Any], otherwise: str = "upstream_interrupted", *, came: Collection[type] = ()
) -> list[Parsed]:
    """Return the deltas of a chunk, or of a completion, whatever its members are. Raises as parse_chunk().

    otherwise: the code of an error whose text does not identify it.  came: the kinds of what came in deltas before, of
    which a message at the end adds nothing.
    """
    deltas = read_members(chunk, came=came)
    if chunk.get("error") or chunk.get("object") == "error":
        failure = reported_failure(json.dumps(chunk), otherwise)
        if not deltas:
            raise failure
        return [*deltas, Broken(failure)]
    for delta in deltas:
        if isinstance(delta, Finished) and delta.reason.lower() in BROKEN:
            return [*deltas, _broken(delta.reason, _choice_error(chunk))]
    if not deltas and "choices" not in chunk:
        return [Skipped(("chunk",), json.dumps(chunk).encode())]
    return deltas


def _has_kept(data: bytes) -> bool:
    """Return whether the chunk may hold a member of KEPT or KEPT_OF_CALLS."""
    return (
        b"reasoning_details" in data
        or b"thinking_blocks" in data
        or b"extra_content" in data
        or b"provider_specific_fields" in data
    )


def reported_failure(said: str, otherwise: str = "upstream_interrupted") -> ModelFailed:
    """Build the failure that a stream, or the body of a successful response, reports. said: its JSON."""
    report = read_error(said)
    code = classify_reported(report, otherwise=otherwise)
    return ModelFailed(code, report.message, report.status, report.code)


def _broken(reason: str, error: object) -> Broken:
    """Build the delta for a finish reason in BROKEN, with the error that the choice gives for it, if any."""
    if error:
        return Broken(reported_failure(json.dumps({"error": error})))
    return Broken(ModelFailed("upstream_interrupted", f"finish reason: {reason}"))


def _choice_error(chunk: Mapping[str, Any]) -> object:
    choices = chunk.get("choices")
    errors = (
        (choice.get("error") for choice in choices if isinstance(choice, Mapping))
        if isinstance(choices, list)
        else ()
    )
    return next(filter(None, errors), None)


def _append_deltas(delta: _Delta, deltas: list[Parsed]) -> None:
    if thought := delta.reasoning_content:
        deltas.append(ReasoningDelta(thought))
    elif thought := delta.reasoning:
        deltas += (Kept("reasoning"), ReasoningDelta(thought))
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
        arguments=as_text(function.arguments),
    )


def _object(data: bytes) -> Mapping[str, Any]:
    """Decode a JSON object. Raises ModelFailed.
    Accepts text that msgspec rejects: lone surrogates, or a character split between two chunks.
    """
    try:
        read = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        _refuse(data)
    if not isinstance(read, Mapping):
        _refuse(data)
    return read


def _refuse(data: bytes) -> NoReturn:
    raise ModelFailed("upstream_malformed", f"not a chunk: {data[:100]!r}")
