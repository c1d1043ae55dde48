"""RunOutcome: what is stored when a run ends, and the stop reason that follows for its turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chat.models.tool_call import ToolCall
from chat.protocol.states import STOP_REASONS, Status
from chat.protocol.upstream_error import NO_UPSTREAM_ERROR, UpstreamError
from chat.protocol.wire import Error, StopReason
from chat.transcript.answer_setup import AnswerSetup
from chat.transcript.entries import Document
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.run_spending import RunSpending
from chat.transcript.token_usage import TokenUsage


@dataclass(frozen=True)
class RunOutcome:
    """The end of one run: its status, answer, error and usage."""

    status: Status  # a terminal one
    last_seq: int  # the seq its `stop` has or will have
    text: str = ""
    reasoning: str = ""
    error: Error | None = None  # only with Status.FAILED
    upstream_error: UpstreamError = NO_UPSTREAM_ERROR  # only with an error
    usage: TokenUsage = field(default_factory=TokenUsage)
    time_to_first_token_ms: int | None = None
    reasoning_ms: int | None = None
    cycles: int = 0
    spending: RunSpending | None = None  # None: what is stored already
    finish: Finish = WHOLE  # of the last inference
    citations: Sequence[Document] = ()  # the documents that the text links to
    has_open_calls: bool = True  # whether a tool call may be running; False only if that is known
    never_ran: Sequence[ToolCall] = ()  # calls that were streamed, but not stored
    # The reports of interrupted agent tools, by the ids of their calls: text and reasoning so far.
    reports: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    setup: AnswerSetup | None = None  # None: nothing was asked, or it is stored already
    # Given the tokens of `text`, how the latest request fills the window (Run.context_usage); None: as it is stored.
    context_usage: Callable[[int], Mapping[str, Any] | None] = lambda _tokens: None

    @property
    def stop_reason(self) -> StopReason:
        return STOP_REASONS[self.status]


def overall_stop_reason(statuses: Iterable[str]) -> StopReason:
    """Return user_cancelled if any run was stopped, else error if all failed, else finished."""
    ended = set(statuses)
    if Status.STOPPED in ended:
        return "user_cancelled"
    return "error" if ended == {Status.FAILED} else "finished"
