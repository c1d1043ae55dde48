"""The values that llm.py yields while a model streams, and the failure it raises. Pure."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from chat.protocol.wire import RUN_ERRORS
from chat.transcript.token_usage import TokenUsage

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


class Finished(NamedTuple):
    """reason: the upstream's finish_reason, or "refusal"."""

    reason: str


Delta = TextDelta | ReasoningDelta | ToolCallDelta | TokenUsage | Finished


@dataclass
class ModelFailed(Exception):
    """The model gave no answer, or an incomplete one; ends the run.

    code: one of chat.protocol.wire.RUN_ERRORS.  detail: for the log; may quote the upstream, never a key.
    """

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in RUN_ERRORS:
            raise ValueError(f"{self.code!r} is not one of RUN_ERRORS")

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"
