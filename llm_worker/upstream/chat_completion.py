"""Parses the body of a chat completion that is not streamed. Pure."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from chat.transcript.finish import finish_reason
from chat.transcript.usage import TokenUsage
from llm_worker.upstream.deltas import Broken, Delta, Finished, Kept, ModelFailed, Skipped, TextDelta
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.stream_reader import (
    MAX_COMPLETION_BYTES,
    StreamReader,
    has_fields,
    no_completion,
    read_objects,
)

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer; its text may be empty. finish_reason: as OpenAI names it, or "refusal"; empty if none."""

    text: str
    finish_reason: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)


class CompletionClient(Protocol):
    """The interface of llm.LanguageModels, or of a fake."""

    async def complete(self, request: Request) -> Completion: ...


def parse_completion(body: bytes) -> Completion:
    """Parse the body. Raises ModelFailed if it is no completion, too long for one, or reports an error."""
    if len(body) > MAX_COMPLETION_BYTES:
        raise ModelFailed("upstream_malformed", "the completion does not end")
    said = body.removeprefix(_BOM).strip()
    deltas = _streamed(body) if has_fields(said) else _whole(said)
    reasons = {delta.reason for delta in deltas if isinstance(delta, Finished)}
    usages = [delta for delta in deltas if isinstance(delta, TokenUsage)]
    return Completion(
        text="".join(delta.text for delta in deltas if isinstance(delta, TextDelta)),
        finish_reason=finish_reason(reasons),
        usage=usages[-1] if usages else TokenUsage(),
    )


def _whole(said: bytes) -> list[Delta]:
    deltas: list[Delta] = []
    for read in read_objects(said):
        for delta in read:
            if isinstance(delta, Broken):
                raise delta.failure
            if not isinstance(delta, Skipped | Kept):
                deltas.append(delta)
    if not any(isinstance(delta, Finished) for delta in deltas):
        raise no_completion(said)
    return deltas


def _streamed(body: bytes) -> list[Delta]:
    """Parse the body of a server that streams although a whole answer was requested."""
    reader = StreamReader()
    deltas = [*reader.take(body), *reader.end()]
    if reader.failure:
        raise reader.failure
    return deltas
