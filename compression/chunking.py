"""Which rows one request shows, when not all of them fit: the rest goes into the next, progressively. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compression.prompt import Frame
from llm_worker.request.message import TOKENS_PER_MESSAGE, Message, TokenCounter, total_tokens

# Where not everything fits, what stays verbatim may take this part of the room: it only shows what matters.
RECENT_SHARE = 0.25
# In less than this a model is shown nothing worth a request.
SMALLEST_ROOM = 200


class NoRoom(Exception):
    """The instructions and the previous summary leave no room for the conversation."""


@dataclass(frozen=True, slots=True)
class Pass:
    """messages: of one request.  rest: what is still to be summarised after it."""

    messages: Sequence[Message]
    rest: Sequence[Message]


def next_pass(
    frame: Frame, older: Sequence[Message], recent: Sequence[Message], *, budget: int, tokens_of: TokenCounter
) -> Pass:
    """The oldest of `older` that fit, at least a part of one. budget: tokens of the request. Raises NoRoom."""
    room = budget - sum(_tokens(message, tokens_of) for message in frame.around((), ()))
    if room < SMALLEST_ROOM:
        raise NoRoom(f"{room} tokens are left of {budget}")
    if total_tokens(older) + total_tokens(recent) <= room:
        return Pass(frame.around(older, recent), ())
    shown = _fitting(recent, int(room * RECENT_SHARE))
    room -= total_tokens(shown)
    taken = _fitting(older, room)
    rest = list(older[len(taken) :])
    if not taken:
        first, remainder = _parted(rest.pop(0), room, tokens_of)
        taken, rest = [first], [remainder, *rest]
    return Pass(frame.around(taken, shown), rest)


def _fitting(messages: Sequence[Message], room: int) -> list[Message]:
    """The oldest, up to the first that does not fit."""
    fitting: list[Message] = []
    for message in messages:
        room -= message.tokens
        if room < 0:
            break
        fitting.append(message)
    return fitting


def _parted(message: Message, room: int, tokens_of: TokenCounter) -> tuple[Message, Message]:
    """A message that is longer than a request, as what fits of it and the remainder."""
    characters, tokens = len(message.text), message.tokens
    while tokens > room and characters > 1:
        # Always less, so that it comes to an end; one character fits into any room that is worth a request.
        characters = max(1, min(characters - 1, characters * room // tokens))
        tokens = tokens_of(message.text[:characters], 0) + TOKENS_PER_MESSAGE
    tail = message.text[characters:]
    left = tokens_of(tail, 0) + TOKENS_PER_MESSAGE
    head = replace(message, text=message.text[:characters], tokens=tokens)
    return head, replace(message, text=tail, tokens=left)


def _tokens(message: Message, tokens_of: TokenCounter) -> int:
    return tokens_of(message.text, 0) + TOKENS_PER_MESSAGE
