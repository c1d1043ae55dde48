"""The values that llm.py yields while a model streams, and the failure it raises. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from chat.protocol.errors import MAX_CODE_CHARACTERS, MAX_MESSAGE_CHARACTERS, RUN_ERRORS, UpstreamError
from chat.transcript.usage import TokenUsage
from llm_worker.upstream.redaction import redact

NO_INDEX: Final = -1


class TextDelta(NamedTuple):
    text: str


class ReasoningDelta(NamedTuple):
    text: str


class ToolCallDelta(NamedTuple):
    """A fragment of one tool call as the server sent it; stream/call_assembler.py decides which call it belongs to.

    place: the call's index within the step; NO_INDEX if the server sent none.
    id, name: sent with the first fragment of a call, and usually only there.
    """

    place: int
    id: str
    name: str
    arguments: str
    members: Mapping[str, Any] | None = None  # further ones, which the server wants back


class Finished(NamedTuple):
    """The end of an answer. reason: the upstream's finish_reason, or "refusal"."""

    reason: str


class SentMembers(NamedTuple):
    """The members of an answer with calls that its server wants back.

    reasoning_name: the member under which reasoning came, if it is not reasoning_content.
    """

    reasoning_name: str
    members: Mapping[str, Any]


Delta = TextDelta | ReasoningDelta | ToolCallDelta | TokenUsage | Finished | SentMembers


@dataclass
class ModelFailed(Exception):
    """The model gave no answer, or an incomplete one; ends the run.

    code: one of chat.protocol.errors.RUN_ERRORS.  detail: for staff and the log; what the server said, or what
    happened.
    status, upstream_code: of the server's response or error.  Failures that leave llm.py are redacted.
    option: the name of the option that was refused.
    """

    code: str
    detail: str = ""
    status: int | None = None
    upstream_code: str = ""
    option: str = ""

    def __post_init__(self) -> None:
        if self.code not in RUN_ERRORS:
            raise ValueError(f"{self.code!r} is not one of RUN_ERRORS")

    def __str__(self) -> str:
        status = "" if self.status is None else f"status {self.status}"
        said = ", ".join(filter(None, (status, self.upstream_code, self.detail)))
        return f"{self.code}: {said}"

    @property
    def searched(self) -> str:
        """What the server said, in lower case, to be searched for what it refuses."""
        return f"{self.upstream_code} {self.detail}".lower()

    @property
    def upstream_error(self) -> UpstreamError:
        return UpstreamError(self.status, self.upstream_code, self.detail)

    def redacted(self, keys: Iterable[str] = ()) -> "ModelFailed":
        """Return the failure without secrets and control characters, capped.
        keys: the keys that were sent to the server.
        """
        sent = tuple(keys)
        return replace(
            self,
            detail=redact(self.detail, sent, limit=MAX_MESSAGE_CHARACTERS),
            upstream_code=redact(self.upstream_code, sent, limit=MAX_CODE_CHARACTERS),
        )


class Skipped(NamedTuple):
    """The names of members that were not understood; stream_reader.py counts them.
    said: a chunk that was skipped whole.
    """

    names: tuple[str, ...]
    said: bytes = b""


class Broken(NamedTuple):
    """The server says, beside deltas, that the answer ends here and is not complete."""

    failure: ModelFailed


class Kept(NamedTuple):
    """A member that the server may want back. value: None for the name of reasoning whose text is a delta."""

    name: str
    value: Any = None


# The parts of a chunk.
Parsed = Delta | Skipped | Broken | Kept
