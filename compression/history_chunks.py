"""Splits a history that does not fit into one request into several progressive ones. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chat.transcript.tokens import TOKENS_PER_MESSAGE
from compression.prompt import Frame
from llm_worker.request.model_message import Message, TokenCounter, total_tokens

# The share of a full request for recent messages: they are context only, the older ones are summarised.
RECENT_SHARE = 0.25
# In tokens. With less room for messages, a request is not worth sending.
SMALLEST_ROOM = 200


class WindowTooSmall(Exception):
    """The instructions and the previous summary leave too little room for messages."""


@dataclass(frozen=True, slots=True)
class SummaryPass:
    """The messages of one request.  covered: of these, the ones to summarise.  rest: what is left for later requests."""

    messages: Sequence[Message]
    covered: Sequence[Message]
    rest: Sequence[Message]


def next_pass(
    frame: Frame, older: Sequence[Message], recent: Sequence[Message], *, budget: int, tokens_of: TokenCounter
) -> SummaryPass:
    """Build the next request from the oldest of `older` that fit, at least part of one message.

    budget: the tokens of the request. Raises WindowTooSmall.
    """
    room = budget - sum(_tokens(message, tokens_of) for message in frame.around((), ()))
    if room < SMALLEST_ROOM:
        raise WindowTooSmall(f"{room} tokens are left of {budget}")
    if total_tokens(older) + total_tokens(recent) <= room:
        return SummaryPass(frame.around(older, recent), older, ())
    shown = _fitting(recent, int(room * RECENT_SHARE))
    room -= total_tokens(shown)
    taken = _fitting(older, room)
    rest = list(older[len(taken) :])
    if not taken:
        first, remainder = _split_message(rest.pop(0), room, tokens_of)
        taken, rest = [first], [remainder, *rest]
    return SummaryPass(frame.around(taken, shown), taken, rest)


def _fitting(messages: Sequence[Message], room: int) -> list[Message]:
    """Return the oldest messages, up to the first that does not fit."""
    fitting: list[Message] = []
    for message in messages:
        room -= message.tokens
        if room < 0:
            break
        fitting.append(message)
    return fitting


def _split_message(message: Message, room: int, tokens_of: TokenCounter) -> tuple[Message, Message]:
    """Split a message that is longer than a request into the part that fits and the remainder."""
    characters, tokens = len(message.text), message.tokens
    while tokens > room and characters > 1:
        # Strictly decreasing, so the loop ends; one character always fits into SMALLEST_ROOM.
        characters = max(1, min(characters - 1, characters * room // tokens))
        tokens = tokens_of(message.text[:characters], 0) + TOKENS_PER_MESSAGE
    tail = message.text[characters:]
    left = tokens_of(tail, 0) + TOKENS_PER_MESSAGE
    head = replace(message, text=message.text[:characters], tokens=tokens)
    return head, replace(message, text=tail, tokens=left)


def _tokens(message: Message, tokens_of: TokenCounter) -> int:
    return tokens_of(message.text, 0) + TOKENS_PER_MESSAGE
