"""Runs and turns as clients see them."""

from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.models import Run, Turn
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.errors import RUN_ERRORS
from chat.protocol.states import Status
from chat.transcript.answer_settings import present_options
from chat.transcript.usage import ESTIMATED_TOKENS_HELP

# The parts of a request, each with its tokens in Run.context_usage.
CONTEXT_PARTS: Final = ("system", "tools", "summary", "history", "files", "question")
# In answers; the admin shows all that is kept.
MAX_UPSTREAM_CHARACTERS: Final = 500
_RUN_CODES: Final = ", ".join(f"`{code}`" for code in RUN_ERRORS)


class RunErrorAnswer(Answer):
    code: Annotated[str, doc(f"{_RUN_CODES}. Of an imported answer, whatever its file says.")]
    message: str
    retryable: bool


class UpstreamErrorAnswer(Answer, kw_only=True):
    status: Annotated[int | None, doc("The HTTP status; null without a response.")]
    code: Annotated[str | UnsetType, doc("The server's own code or type; for staff.")] = UNSET
    message: Annotated[str | UnsetType, doc("What the server said, without secrets; for staff.")] = UNSET


class UsageAnswer(Answer):
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    estimated_tokens: Annotated[int | None, doc(ESTIMATED_TOKENS_HELP)]


class NextCompressionAnswer(Answer):
    history: Annotated[int, doc("What counts as history after this answer, it included.")]
    limit: Annotated[int, doc("The history is summarised once it is longer.")]
    keeps_from: Annotated[
        UUID | None,
        doc("If it were summarised now, the first message to stay verbatim; null if there is nothing older."),
    ]


class ContextAnswer(Answer):
    """All counts are tokens, as the model's server counts them or as estimated."""

    window: Annotated[int, doc("The model's context window.")]
    reserved: Annotated[int, doc("Kept for the answer and for errors of the estimate.")]
    system: Annotated[int, doc("System prompt, agent prompt and reminders.")]
    tools: Annotated[int, doc("Descriptions of the tools.")]
    summary: int
    history: Annotated[int, doc("Messages above the question.")]
    files: Annotated[int, doc("Files, projects, knowledge bases and context of this turn.")]
    question: Annotated[int, doc("The question and the tool calls of this turn.")]
    used: Annotated[int, doc("The sum of the six above.")]
    free: int
    compression: NextCompressionAnswer
    left_out_tools: Annotated[
        int, doc("Chosen tools that the model's server refuses, or that are more than it takes.")
    ] = 0


class AnsweringAgentAnswer(Answer):
    id: UUID
    name: str


class RunAnswer(Answer, kw_only=True):
    id: UUID
    turn: UUID
    request_id: Annotated[str, doc("Of the request that started the turn; may be empty.")]
    message: UUID
    model: str
    model_index: int
    status: Annotated[str, choice(Status)]
    attempt: int
    failures: int
    continuations: Annotated[int, doc("How often the user let it go on after it was cut.")]
    # A string: a 64-bit integer exceeds JavaScript's exact numbers.
    owner: str | None
    error: RunErrorAnswer | UnsetType = UNSET
    upstream_error: UpstreamErrorAnswer | UnsetType = UNSET
    usage: UsageAnswer
    cost: float | None
    time_to_first_token_ms: int | None
    reasoning_ms: int | None
    cycles: int
    options: Annotated[dict[str, Any], doc("What held, those of the session included.")]
    finish_reason: Annotated[str, doc("Of the last inference, as the model server reported it.")]
    finish_tokens: int | None
    agent: Annotated[AnsweringAgentAnswer | None, doc("As it was called when it answered.")]
    version: Annotated[
        str | None, doc("Digest of the prompts and tools it was answered with; null until text is saved.")
    ]
    context: Annotated[
        ContextAnswer | None, doc("Of its latest request; null if it sent none, or is imported.")
    ]
    created_at: Moment
    queued_at: Moment
    claimed_at: Moment | None
    beat_at: Moment | None
    lease_until: Moment | None
    deadline: Moment
    ended_at: Moment | None
    announced_at: Moment | None


class StatusAnswer(Answer):
    status: Annotated[str, choice(Status)]


def present_run(run: Run, *, is_for_staff: bool = False) -> JSONObject:
    """Present a run. is_for_staff: the reader may see what the model server said."""
    # The agent and the version of its prompts and tools, of the latest attempt.
    setup = run.setups.order_by("attempt").last()
    return RunAnswer.from_row(
        run,
        turn=run.turn_id,
        request_id=run.turn.request_id,
        message=run.message_id,
        owner=str(run.owner) if run.owner is not None else None,
        usage=UsageAnswer.from_row(run),
        cost=None if run.cost is None else float(run.cost),
        options=present_options(run.options),
        context=_present_context(run),
        agent=(
            AnsweringAgentAnswer(id=setup.agent, name=setup.agent_name) if setup and setup.agent else None
        ),
        version=setup.version_id if setup else None,
        error=present_error(run),
        upstream_error=_present_upstream_error(run, is_for_staff=is_for_staff),
    ).json()


def _present_upstream_error(run: Run, *, is_for_staff: bool) -> UpstreamErrorAnswer | UnsetType:
    """Present the error of the model server; users are told only its status."""
    error = run.upstream_error
    if not run.error_code or not (error.status or (is_for_staff and error.message)):
        return UNSET
    if not is_for_staff:
        return UpstreamErrorAnswer(status=error.status)
    message = error.message[:MAX_UPSTREAM_CHARACTERS]
    return UpstreamErrorAnswer(status=error.status, code=error.code or UNSET, message=message)


def present_cut(run: Run) -> JSONObject:
    """Return the members finish_reason and finish_tokens of a message that is incomplete; empty for a whole one."""
    if not run.visible_finish.is_cut:
        return {}
    tokens = {} if run.finish_tokens is None else {"finish_tokens": run.finish_tokens}
    return {"finish_reason": run.finish_reason, **tokens}


def _present_context(run: Run) -> ContextAnswer | None:
    """Present how the latest request filled the window, in tokens; `free` does not contain what is reserved."""
    stored = run.context_usage
    if stored is None:
        return None
    used = sum(stored[part] for part in CONTEXT_PARTS)
    return ContextAnswer(**stored, used=used, free=max(0, stored["window"] - stored["reserved"] - used))


def present_error(run: Run) -> RunErrorAnswer | UnsetType:
    """Present the error of a run and of its message; UNSET if there is none."""
    if not run.error_code:
        return UNSET
    return RunErrorAnswer(code=run.error_code, message=run.error_message, retryable=run.error_retryable)


class StartedRunAnswer(Answer):
    id: UUID
    message: UUID
    model: str
    model_index: int


class StartedAnswer(Answer):
    turn: UUID
    user_message: UUID
    runs: list[StartedRunAnswer]


class RunContinued(Answer):
    turn: UUID
    run: UUID
    message: UUID
    attempt: Annotated[int, doc("The first that belongs to the continuation.")]


def present_continuation(run: Run) -> JSONObject:
    """Present the payload of `run_continued`."""
    return RunContinued(turn=run.turn_id, run=run.pk, message=run.message_id, attempt=run.attempt).json()


def present_turn(turn: Turn, runs: Sequence[Run]) -> JSONObject:
    """Present a turn. runs: those of the turn, by model_index."""
    started = [StartedRunAnswer.from_row(run, message=run.message_id) for run in runs]
    return StartedAnswer(turn=turn.pk, user_message=turn.user_message_id, runs=started).json()
