"""What a model's stream says, in our own words: the values llm.py yields and the failure it raises. Pure."""

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
    """A piece of one tool call, as the server sent it; llm_worker/stream/call_assembler.py knows which call it belongs to.

    place: its index among the step's calls; NO_INDEX where the server did not say.
    id, name: with the call's first piece, and mostly only there.
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
    """The model gave no answer, or broke off in the middle of one; ends the run.

    code: one of chat.protocol.RUN_ERRORS.  detail: for the log; may quote the upstream, never a key.
    """

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in RUN_ERRORS:
            raise ValueError(f"{self.code!r} is not one of RUN_ERRORS")

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"
