"""Ask a model for the summary, in as many passes as it takes, and refuse one that is not worth having.

Knows no rows: work comes in as values, and what to store goes out as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from chat.transcript.token_usage import TokenUsage
from chat.transcript.tokens import count_tokens
from compression.chunking import NoRoom, next_pass
from compression.prompt import Frame
from llm_worker.request.message import TOKENS_PER_MESSAGE, Message, TokenCounter
from llm_worker.request.prompt_parts import SUMMARY_TOKENS
from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning
from llm_worker.upstream.completion import Completion
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model, Request

# A summary that gains less is written again soon, for nothing.
SMALLEST_GAIN: Final = 0.1
# More requests than this for one summary mean a window that is far too small for the history.
MOST_PASSES: Final = 200


class Models(Protocol):
    """llm_worker.upstream.llm.LanguageModels, or whatever else answers."""

    async def complete(self, request: Request) -> Completion: ...


@dataclass
class Metered:
    """Passes requests on, and remembers what they used, whatever becomes of them."""

    models: Models
    used: list[TokenUsage] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        completion = await self.models.complete(request)
        self.used.append(completion.usage)
        return completion


@dataclass
class Refused(Exception):
    """What the model wrote is not acceptable: empty, truncated, too_long, small_gain; or no_room for asking."""

    code: str


@dataclass(frozen=True)
class Work:
    """What is to be summarised, and by whom.

    older, recent: the rows as they are shown, recent ones up to the summary's parent.  replaced_tokens: what the
    older rows and the previous summary cost in a request.  budget: tokens of one request.
    """

    model: Model
    older: Sequence[Message]
    recent: Sequence[Message]
    replaced_tokens: int
    budget: int
    words: int
    tokens_of: TokenCounter
    previous: str = ""


@dataclass(frozen=True)
class Summarised:
    """tokens: of the text alone, in the default encoding."""

    text: str
    tokens: int


async def compress_chat_history(work: Work, models: Models) -> Summarised:
    """Raises Refused or ModelFailed; then nothing is to be written."""
    rest, text = work.older, work.previous
    for _ in range(MOST_PASSES):
        messages, rest = _next(work, rest, text)
        completion = await models.complete(Request(work.model, messages))
        text = _accepted(completion)
        if not rest:
            return Summarised(text, _worth_having(text, work.replaced_tokens))
    raise Refused("no_room")


def shown_tokens(summary_tokens: int) -> int:
    """What a later request pays for a summary of that many."""
    return summary_tokens + SUMMARY_TOKENS + TOKENS_PER_MESSAGE


def _next(work: Work, rest: Sequence[Message], text: str) -> tuple[Sequence[Message], Sequence[Message]]:
    frame = Frame(work.words, text)
    try:
        step = next_pass(frame, rest, work.recent, budget=work.budget, tokens_of=work.tokens_of)
    except NoRoom as error:
        raise Refused("no_room") from error
    return step.messages, step.rest


def _accepted(completion: Completion) -> str:
    text = clean(without_reasoning(completion.text)).strip()
    if completion.finish_reason == "refusal":
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if completion.finish_reason != "stop":
        raise Refused("truncated")
    if not text:
        raise Refused("empty")
    return text


def _worth_having(text: str, replaced_tokens: int) -> int:
    """Its tokens, if it is enough shorter than what it replaces."""
    tokens = count_tokens(text)
    shown = shown_tokens(tokens)
    if shown >= replaced_tokens:
        raise Refused("too_long")
    if shown > (1 - SMALLEST_GAIN) * replaced_tokens:
        raise Refused("small_gain")
    return tokens
