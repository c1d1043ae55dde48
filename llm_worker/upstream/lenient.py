"""Reads the members of a chunk or a completion, the reported usage among them, whatever their types are. Pure.

Figures about an answer never decide whether there is one: a value that is not a count is unknown.

The fallback of the decoder in chunks.py. A member that is not understood is skipped and named in Skipped. Only the
parts of an answer count: texts of all types are joined in their order, and parts that are marked as thinking are
reasoning.
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import msgspec

from chat.transcript.usage import MAX_TOKENS, TokenUsage
from llm_worker.upstream.deltas import (
    NO_INDEX,
    Delta,
    Finished,
    Kept,
    Parsed,
    ReasoningDelta,
    Skipped,
    TextDelta,
    ToolCallDelta,
)

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


_MAX_DEPTH: Final = 6
# Types of parts, and members of objects, that hold reasoning (Mistral, Anthropic, Cohere, OpenRouter).
_THINKING: Final = ("thinking", "reasoning", "reasoning_content", "thought", "summary")
# The members of a part that may hold its text; the first that is present does.
TEXT_MEMBERS: Final = (*_THINKING, "text", "content", "value")
# Members of a message and of a call that their server may want back.
KEPT: Final = ("reasoning_details", "thinking_blocks", "extra_content")
# The name, among the kept members, of parts of a content: Mistral wants its thinking back unchanged.
CONTENT: Final = "content"
KEPT_OF_CALLS: Final = ("extra_content", "provider_specific_fields")
# Members that may hold reasoning; the first that is not empty counts.
REASONING_NAMES: Final = ("reasoning_content", "reasoning", "thinking")


@dataclass
class _Members:
    """The deltas of a JSON object. skipped: the names of members that were not understood."""

    deltas: list[Parsed] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def read_members(chunk: Mapping[str, Any], *, came: Collection[type] = ()) -> list[Parsed]:
    """Return all that a chunk or a completion holds but its error; the names of skipped members come last.

    came: the kinds of what came in deltas before. A message that repeats them adds nothing of these kinds.
    """
    read = _Members()
    for choice in _objects(chunk.get("choices"), "choices", read):
        before = len(read.deltas)
        _read_said_of(choice, read)
        if came and choice.get("message") and not choice.get("delta"):
            read.deltas[before:] = [delta for delta in read.deltas[before:] if type(delta) not in came]
        _read_end(choice, read)
    usage = read_usage(chunk.get("usage"))
    if usage is not None:
        read.deltas.append(usage)
    elif chunk.get("usage") is not None:
        read.skipped.append("usage")
    return [*read.deltas, Skipped(tuple(read.skipped))] if read.skipped else read.deltas


def _read_said_of(choice: Mapping[str, Any], read: _Members) -> None:
    said = choice.get("delta") or choice.get("message")
    if isinstance(said, Mapping):
        _read_said(said, read)
    elif said is not None:
        read.skipped.append("delta")
    elif isinstance(text := choice.get("text"), str) and text:
        read.deltas.append(TextDelta(text))  # the predecessor of chat completions


def _read_end(choice: Mapping[str, Any], read: _Members) -> None:
    reason = choice.get("finish_reason")
    if isinstance(reason, Mapping):
        reason = reason.get("type") or reason.get("reason")
    if isinstance(reason, str) and reason:
        read.deltas.append(Finished(reason))
    else:
        if reason:
            read.skipped.append("finish_reason")
        if isinstance(choice.get("message"), Mapping):
            read.deltas.append(Finished(""))  # a message, unlike a delta, is whole


def _read_said(said: Mapping[str, Any], read: _Members) -> None:
    for name in REASONING_NAMES:
        if texts := "".join(part.text for part in _parts(said.get(name), name, read)):
            read.deltas += (
                [ReasoningDelta(texts)]
                if name == "reasoning_content"
                else [Kept(name), ReasoningDelta(texts)]
            )
            break
    read.deltas += [Kept(name, said[name]) for name in KEPT if said.get(name)]
    if thinking := _thinking_parts(said.get("content")):
        read.deltas.append(Kept(CONTENT, thinking))
    read.deltas += _joined(_parts(said.get("content"), "content", read))
    if refusal := "".join(part.text for part in _parts(said.get("refusal"), "refusal", read)):
        read.deltas += (TextDelta(refusal), Finished("refusal"))
    for call in _objects(said.get("tool_calls"), "tool_calls", read):
        read.deltas.append(_call(call, read))
    for function in _objects(said.get("function_call"), "function_call", read):
        read.deltas.append(_call({"function": function}, read))


def _parts(
    content: Any, name: str, read: _Members, *, depth: int = 0
) -> Iterator[TextDelta | ReasoningDelta]:
    """Yield the texts of a content: one text, a part, or a list of both, nested."""
    if isinstance(content, str):
        if content:
            yield TextDelta(content)
    elif isinstance(content, list) and depth < _MAX_DEPTH:
        for part in content:
            yield from _parts(part, name, read, depth=depth + 1)
    elif isinstance(content, Mapping) and depth < _MAX_DEPTH:
        yield from _part(content, name, read, depth)
    elif content is not None:
        read.skipped.append(name)


def _thinking_parts(content: Any) -> list[Mapping[str, Any]]:
    """Return the parts of a content that are reasoning, unchanged."""
    parts = content if isinstance(content, list) else [content]
    return [part for part in parts if isinstance(part, Mapping) and _is_thinking(part)]


def _is_thinking(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    if isinstance(kind, str) and any(word in kind for word in ("think", "reason", "thought")):
        return True
    return next((name in _THINKING for name in TEXT_MEMBERS if part.get(name) is not None), False)


def _part(
    part: Mapping[str, Any], name: str, read: _Members, depth: int
) -> Iterator[TextDelta | ReasoningDelta]:
    is_thinking = _is_thinking(part)
    for member in TEXT_MEMBERS:
        if part.get(member) is not None:
            for piece in _parts(part[member], name, read, depth=depth + 1):
                yield ReasoningDelta(piece.text) if is_thinking else piece
            return
    read.skipped.append(name)


def _joined(parts: Iterator[TextDelta | ReasoningDelta]) -> list[Delta]:
    """Join neighbouring deltas of one type."""
    joined: list[Delta] = []
    for part in parts:
        latest = joined[-1] if joined else None
        if isinstance(latest, TextDelta | ReasoningDelta) and type(latest) is type(part):
            joined[-1] = type(part)(latest.text + part.text)
        else:
            joined.append(part)
    return joined


def _call(call: Mapping[str, Any], read: _Members) -> ToolCallDelta:
    index, given_id, function = call.get("index"), call.get("id"), call.get("function")
    if not isinstance(function, Mapping):
        # Some servers put the members of the function beside the id.
        if not isinstance(call.get("name"), str):
            read.skipped.append("function")
        function = call
    name = function.get("name")
    if (isinstance(index, float) and index.is_integer()) or (isinstance(index, str) and index.isdecimal()):
        index = int(index)
    return ToolCallDelta(
        place=index if type(index) is int and index >= 0 else NO_INDEX,
        id=str(given_id) if isinstance(given_id, str | int) else "",
        name=name if isinstance(name, str) else "",
        arguments=as_text(function.get("arguments")),
        members={name: call[name] for name in KEPT_OF_CALLS if call.get(name)} or None,
    )


def as_text(arguments: object) -> str:
    """Return arguments as text. They are a JSON string by the specification; some servers send an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _objects(value: Any, name: str, read: _Members) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, or a single object; other values are skipped."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Mapping):
            yield item
        elif item is not None or isinstance(value, list):
            read.skipped.append(name)
