"""Asks a model for a summary, in as many passes as needed, and rejects a summary that is not worth storing.

Reads and writes no rows: takes a SummaryRequest and returns a WrittenSummary.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from chat.transcript.finish import Finish
from chat.transcript.tokens import TOKENS_PER_MESSAGE, count_tokens
from compression.acceptance import why_refused
from compression.prompt import Frame, SummaryPass, WindowTooSmall, next_pass, repeats_request
from llm_worker.request.model_message import Message, TokenCounter, total_tokens
from llm_worker.request.prompt_parts import SUMMARY_TOKENS
from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning
from llm_worker.upstream.chat_completion import Completion, CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model, Request

# A summary that saves a smaller share would soon have to be replaced.
SMALLEST_GAIN: Final = 0.1
# Requests for one pass: a model whose answer was not accepted may write a better one.
ATTEMPTS: Final = 2
# More requests for one summary mean that the window is far too small for the history.
MOST_PASSES: Final = 200


@dataclass
class SummaryRejected(Exception):
    """The summary is not acceptable.

    code: empty, truncated, echo, refusal, too_short, unrelated, too_long or small_gain; no_room if no summary can be
    asked for.
    """

    code: str


@dataclass(frozen=True)
class SummaryRequest:
    """The messages to summarise, and the model that does it.

    older: the messages to summarise.  recent: the messages after them, up to the summary's parent.  replaced_tokens:
    the tokens of the older messages and the previous summary in a later request.  budget: the tokens of one request.
    words: the limit of the summary.  previous: the text of the previous summary, or empty.
    limit_s: the time limit of each request, in seconds, from when its server accepts it.
    """

    model: Model
    older: Sequence[Message]
    recent: Sequence[Message]
    replaced_tokens: int
    budget: int
    words: int
    tokens_of: TokenCounter
    previous: str = ""
    limit_s: float | None = None


@dataclass(frozen=True)
class WrittenSummary:
    """A summary.  tokens: of the text alone, in the default encoding."""

    text: str
    tokens: int


async def compress_chat_history(request: SummaryRequest, models: CompletionClient) -> WrittenSummary:
    """Write a summary. Raises SummaryRejected or ModelFailed."""
    rest, written = request.older, WrittenSummary(request.previous, 0)
    for _ in range(MOST_PASSES):
        step = _next_pass(request, rest, written.text)
        written = await _write_pass(request, step, written.text, models)
        rest = step.rest
        if not rest:
            return written
    raise SummaryRejected("no_room")


async def _write_pass(
    request: SummaryRequest, step: SummaryPass, previous: str, models: CompletionClient
) -> WrittenSummary:
    """Ask for the summary of one pass, at most ATTEMPTS times. Raises SummaryRejected or ModelFailed."""
    asked = Request(request.model, step.messages, gives_way=True, limit_s=request.limit_s)
    for _ in range(ATTEMPTS - 1):
        with suppress(SummaryRejected):
            return _accept(await models.complete(asked), request, step, previous)
    return _accept(await models.complete(asked), request, step, previous)


def shown_tokens(summary_tokens: int) -> int:
    """Return the tokens that a summary of `summary_tokens` takes in a later request, with its frame."""
    return summary_tokens + SUMMARY_TOKENS + TOKENS_PER_MESSAGE


def _next_pass(request: SummaryRequest, rest: Sequence[Message], text: str) -> SummaryPass:
    """Return the messages of the next request. Raises SummaryRejected."""
    frame = Frame(request.words, text)
    try:
        return next_pass(frame, rest, request.recent, budget=request.budget, tokens_of=request.tokens_of)
    except WindowTooSmall as error:
        raise SummaryRejected("no_room") from error


def _accept(
    completion: Completion, request: SummaryRequest, step: SummaryPass, previous: str
) -> WrittenSummary:
    """Return the summary of one pass. previous: the text that it continues. Raises SummaryRejected or ModelFailed."""
    text = _whole_text(completion)
    tokens = count_tokens(text)
    if repeats_request(text, request.words, (each.text for each in (*request.older, *request.recent))):
        raise SummaryRejected("echo")
    source = [previous, *(message.text for message in step.covered)]
    if refused := why_refused(text, source, total_tokens(step.covered) + count_tokens(previous), tokens):
        raise SummaryRejected(refused)
    if not step.rest:
        _check_gain(tokens, request.replaced_tokens)
    return WrittenSummary(text, tokens)


def _whole_text(completion: Completion) -> str:
    """Return the text of a complete answer without its reasoning. Raises SummaryRejected or ModelFailed."""
    text = clean(without_reasoning(completion.text)).strip()
    if completion.finish_reason == "refusal":
        raise ModelFailed("model_refusal", "the model sent a refusal")
    # Text before calls, of tools that were not offered, is no summary.
    if Finish(completion.finish_reason).is_cut or completion.finish_reason in ("tool_calls", "function_call"):
        raise SummaryRejected("truncated")
    if not text:
        raise SummaryRejected("empty")
    return text


def _check_gain(tokens: int, replaced_tokens: int) -> None:
    """Raise SummaryRejected unless a summary of so many tokens saves SMALLEST_GAIN of the replaced ones."""
    shown = shown_tokens(tokens)
    if shown >= replaced_tokens:
        raise SummaryRejected("too_long")
    if shown > (1 - SMALLEST_GAIN) * replaced_tokens:
        raise SummaryRejected("small_gain")
