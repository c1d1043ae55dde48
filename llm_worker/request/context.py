"""Chooses the messages of a request, their order and how much of the history fits its token budget. Pure.

    S SUM [history: F U TC TR … A]* CA P D N F U [TC TR …]* R

The letters are explained in model_message.py. Does not know rows, API dicts or the model server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Self

from chat.transcript.entries import Block, BlockKind, Entry, Round, TextFile
from chat.transcript.tokens import TOKENS_PER_MESSAGE, request_tokens
from llm_worker.request.history import History
from llm_worker.request.message_renderer import BLOCKS, MessageRenderer, drop_unanswered_calls
from llm_worker.request.model_message import (
    LanguageModelInput,
    Message,
    TokenCounter,
    memoize_counts,
    total_tokens,
)
from llm_worker.request.prompt_parts import FixedMessages, PromptParts
from llm_worker.request.truncation import token_limits, truncate

# Above this share of the budget an estimate is checked with the model's encoding.
TIGHT_SHARE = 0.9
# Reserved for the tool rounds of this turn, so that they do not displace history that was already sent.
ROUNDS_TOKENS = 8_192
# The part of the tokens left for rounds that is reserved for the reminder behind them.
REMINDER_TOKENS = 256
# The newest turn stays, because no summary can replace it, but leaves this share of the free tokens to tool rounds.
LEAST_SHARE_OF_ROUNDS = 1 / 8


class ContextTooLong(Exception):
    """The fixed messages do not fit; the user has to shorten the question. No request is made. tokens: of all."""

    def __init__(self, tokens: int, most: int) -> None:
        super().__init__(f"{tokens} tokens do not fit into {most}")
        self.tokens = tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens that one request may use. for_rounds: the part withheld from the history while tools are offered.

    The same in every cycle of a turn; otherwise later requests would not extend the first.
    """

    tokens: int
    for_rounds: int = 0

    def history_window(self, fixed_tokens: int) -> int:
        """Return the tokens left for history beside fixed messages of `fixed_tokens` tokens.

        This is the only definition of what history may use: requests are cut by it, and compression, its trigger and
        the project's share are measured with it. For a run the fixed messages are the prompts, the project and the
        dynamic context; its history is the summary, the messages after it and the question. If these are charged as
        fixed messages, as in build_context(), the rest has no fewer tokens.
        """
        free = max(0, self.tokens - fixed_tokens)
        return free - min(self.for_rounds, free // 2)

    def is_nearly(self, tokens: int) -> bool:
        return tokens > TIGHT_SHARE * self.tokens

    def check(self, tokens: int) -> None:
        if tokens > self.tokens:
            raise ContextTooLong(tokens, self.tokens)


@dataclass(frozen=True, slots=True)
class Context:
    """The messages of a request, in send order, and what was omitted from it.

    is_tight: history is omitted or the budget is nearly used, so that an exact count is worthwhile.
    omitted_files: files of earlier messages that are not shown, newest first.  truncated: ids of the calls of this turn
    whose responses are truncated.  omitted_entries: the entries that are not shown, oldest first.
    is_partly_omitted: a part of the last omitted entry is shown.
    """

    messages: LanguageModelInput
    tokens: int
    is_tight: bool
    omitted_files: tuple[TextFile, ...] = ()
    truncated: tuple[str, ...] = ()
    omitted_entries: Sequence[Entry] = ()
    is_partly_omitted: bool = False


def request_budget(
    context_window: int, answer_reserve: int, tool_schema_tokens: int = 0, *, factor: float = 1.0
) -> Budget:
    """Compute the tokens that a request may use; the rest of the window is for the answer.

    tool_schema_tokens: 0 without tools.
    factor: the server's tokens (window, reserve) for one of ours (the result, and the schemas).
    """
    tokens = request_tokens(context_window, answer_reserve, factor) - tool_schema_tokens
    return Budget(tokens, ROUNDS_TOKENS if tool_schema_tokens else 0)


def build_context(
    entries: Sequence[Entry],
    parts: PromptParts,
    *,
    rounds: Sequence[Round] = (),
    budget: Budget,
    tokens_of: TokenCounter,
) -> Context:
    """Choose what the model will see. Raises ContextTooLong if the fixed messages do not fit.

    entries: the branch after the summary's cutoff, oldest first; the last one is the user message to answer.
    rounds: the finished tool rounds of this turn, oldest first. The fixed messages are charged first, then the
    history from the newest entry up to the first that does not fit. Each request of a turn extends the previous one
    (except for the reminder), unless the rounds, even truncated, need more than the tokens reserved for them.
    """
    *before, question = entries
    renderer = MessageRenderer(memoize_counts(tokens_of), parts.sees_images, parts.source)
    frame = FixedMessages.around(question, parts, renderer)
    history = _history(before, question, parts, renderer)
    free, window = budget.tokens - frame.tokens, budget.history_window(frame.tokens)
    expected = history.fit_with_newest_turn(window, int(free * (1 - LEAST_SHARE_OF_ROUNDS)))
    room, most = free - expected.tokens - REMINDER_TOKENS, free - frame.behind
    # The earlier rounds stay as they were sent, as many as possible.
    for whole in (None, *reversed(range(len(rounds)))):
        shown = CurrentRounds.render(rounds, room, renderer, whole=whole)
        kept = expected if expected.tokens + shown.tokens <= most else history.fit(most - shown.tokens)
        if kept.tokens + shown.tokens <= most:
            break
    tokens = frame.tokens + kept.tokens + shown.tokens + frame.behind
    budget.check(tokens)
    tokens_at_most = frame.tokens + expected.tokens + free - window
    return Context(
        messages=[*frame.above(kept), *shown.messages, *frame.reminder],
        tokens=tokens,
        is_tight=bool(kept.omitted_entries) or budget.is_nearly(max(tokens, tokens_at_most)),
        omitted_files=kept.omitted_files,
        truncated=shown.truncated,
        omitted_entries=kept.omitted_entries,
        is_partly_omitted=kept.is_partly_omitted,
    )


def _history(
    before: Sequence[Entry], question: Entry, parts: PromptParts, renderer: MessageRenderer
) -> History:
    present = {file.id for file in question.files}
    files = (file for entry in reversed(before) for file in entry.files)
    return History(
        before,
        renderer,
        blocks=_standing(before, question, parts, renderer),
        files=[file for file in (*files, *parts.summarised_files) if file.id not in present],
        lists_files=parts.reads_files,
    )


def _standing(
    before: Sequence[Entry], question: Entry, parts: PromptParts, renderer: MessageRenderer
) -> list[Message]:
    """Render the latest stored block of each kind that no newer text replaces."""
    replaced: set[BlockKind] = {block.kind for block in question.blocks}
    # The dynamic context of this turn does not replace the stored one.
    replaced |= {"CA"} if parts.agent_prompt else set()
    replaced |= {"P"} if parts.project else set()
    newest: dict[BlockKind, Block] = {}
    for entry in reversed(before):
        for block in entry.blocks:
            newest.setdefault(block.kind, block)
    return [
        renderer.render_block(newest[kind])
        for kind in BLOCKS
        if kind in newest and kind not in replaced and newest[kind].text
    ]


# The share of the room for a round that its images may use; further images are only named.
IMAGES_SHARE = Fraction(3, 4)


@dataclass(frozen=True, slots=True)
class CurrentRounds:
    """The rendered tool rounds of this turn. truncated: ids of the calls whose responses are truncated."""

    messages: list[Message]
    truncated: tuple[str, ...]

    @classmethod
    def render(
        cls, rounds: Sequence[Round], room: int, renderer: MessageRenderer, *, whole: int | None = None
    ) -> Self:
        """Render the rounds. Each depends only on earlier rounds, so that every later cycle renders it the same.

        whole: how many of the rounds have room; None: all.
        """
        messages: list[Message] = []
        truncated: list[str] = []
        for number, each in enumerate(drop_unanswered_calls(rounds)[0]):
            room = 0 if number == whole else room
            asked = renderer.render_calls(each)
            sizes = [renderer.tokens_of(call.response, 0) for call in each.calls]
            images = renderer.render_tool_images(each, floor(room * IMAGES_SHARE))
            room -= asked.tokens + TOKENS_PER_MESSAGE * len(sizes) + total_tokens(images)
            limits = token_limits(sizes, room)
            responses = [
                truncate(call.response, limit, renderer.tokens_of)
                for call, limit in zip(each.calls, limits, strict=True)
            ]
            room -= sum(tokens for _text, tokens in responses)
            messages += [asked, *renderer.render_responses(each, responses), *images]
            truncated += [
                call.id for call, size, limit in zip(each.calls, sizes, limits, strict=True) if limit < size
            ]
        return cls(messages, tuple(truncated))

    @property
    def tokens(self) -> int:
        return total_tokens(self.messages)
