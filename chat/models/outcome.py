"""How a run ended: the values that are stored with its end, and what they mean for its turn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chat.models.tool_call import ToolCall
from chat.protocol.states import STOP_REASONS, Status
from chat.protocol.wire import Error, StopReason
from chat.transcript.entries import Document


@dataclass(frozen=True)
class Usage:
    """What the upstream reported; None where it said nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class End:
    """What is saved of a run when it ends."""

    status: Status  # a terminal one
    last_seq: int  # the seq its `stop` has or will have
    text: str = ""
    reasoning: str = ""
    error: Error | None = None  # only with Status.FAILED
    usage: Usage = field(default_factory=Usage)
    time_to_first_token_ms: int | None = None
    reasoning_ms: int | None = None
    cycles: int = 0
    citations: Sequence[Document] = ()  # what the text links to
    has_open_calls: bool = True  # whether a tool may be running; False only where that is known
    never_ran: Sequence[ToolCall] = ()  # calls that readers saw being written; not stored yet
    # Of agent tools that are cut short, by the rows of their calls: the text so far, the reasoning before it.
    reports: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def stop_reason(self) -> StopReason:
        return STOP_REASONS[self.status]


def overall_stop_reason(statuses: Iterable[str]) -> StopReason:
    """user_cancelled if any run was stopped, else error if all failed, else finished."""
    ended = set(statuses)
    if Status.STOPPED in ended:
        return "user_cancelled"
    return "error" if ended == {Status.FAILED} else "finished"
