"""RunOutcome: what is stored when a run ends, and the stop reason that follows for its turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chat.models.run_fields import spending_columns, upstream_columns
from chat.models.sql.run_records import SetupParameters
from chat.models.sql.runs import END
from chat.models.tool_call import ToolCall
from chat.protocol.errors import NO_UPSTREAM_ERROR, UpstreamError
from chat.protocol.states import STOP_REASONS, Status
from chat.protocol.wire import Error, StopReason
from chat.transcript.answer_settings import AnswerSetup
from chat.transcript.entries import Document
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.tokens import count_tokens
from chat.transcript.usage import RunSpending, TokenUsage


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
    hands_over: bool = False  # whether open calls are the caller's to carry out
    never_ran: Sequence[ToolCall] = ()  # calls that were streamed, but not stored
    # The reports of interrupted agent tools, by the ids of their calls: text and reasoning so far.
    reports: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    setup: AnswerSetup | None = None  # None: nothing was asked, or it is stored already
    # Given the tokens of `text`, how the latest request fills the window (Run.context_usage); None: as it is stored.
    context_usage: Callable[[int], Mapping[str, Any] | None] = lambda _tokens: None

    @property
    def stop_reason(self) -> StopReason:
        return STOP_REASONS[self.status]

    def store(self, run_id: UUID | str, attempt: int, owner: int | None = None) -> bool:
        """Save the end and the answer of that attempt. False: the state machine forbids it, or another owns the run.

        owner: None: of whichever worker.
        """
        return END.first(run=run_id, attempt=attempt, owner=owner, **self._parameters()) is not None

    def _parameters(self) -> dict[str, Any]:
        """Return the other parameters of END."""
        error, tokens = self.error, count_tokens(self.text)
        context_usage = self.context_usage(tokens)
        return {
            "status": self.status.value,
            "last_seq": self.last_seq,
            "text": self.text,
            "reasoning": self.reasoning,
            "token_count": tokens,
            "error_code": error.code if error else "",
            "error_message": error.message if error else "",
            "error_retryable": bool(error and error.retryable),
            "time_to_first_token_ms": self.time_to_first_token_ms,
            "reasoning_ms": self.reasoning_ms,
            "cycles": self.cycles,
            "finish_reason": self.finish.reason,
            "finish_tokens": self.finish.tokens,
            "context_usage": None if context_usage is None else Jsonb(context_usage),
            **upstream_columns(self.upstream_error),
            **self.usage._asdict(),
            **spending_columns(self.spending),
            **SetupParameters.from_setup(self.setup)._asdict(),
        }


def overall_stop_reason(statuses: Iterable[str]) -> StopReason:
    """Return user_cancelled if any run was stopped, else error if all failed, else finished."""
    ended = set(statuses)
    if Status.STOPPED in ended:
        return "user_cancelled"
    return "error" if ended == {Status.FAILED} else "finished"
