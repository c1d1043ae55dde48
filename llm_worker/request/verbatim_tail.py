"""Decides which messages of a branch stay verbatim when it is summarised. Pure.

Compression splits branches with it, and a run uses it to report what the next compression would summarise.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from chat.transcript.entries import Entry
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import total_tokens

T = TypeVar("T")


def verbatim_start(
    rows: Sequence[T], room: Fraction, *, tokens_of: Callable[[T], int], is_question: Callable[[T], bool]
) -> int:
    """Return the index of the first row that stays, which is a question; 0 means that all rows stay.

    rows: oldest first.  room: tokens; the newest rows that fit into it stay, at least one. Calls tokens_of() only for
    these and one more.
    """
    start = _tail_start(rows, room, tokens_of)
    questions = [index for index, row in enumerate(rows) if is_question(row)]
    return next((index for index in questions if index >= start), questions[-1]) if questions else 0


def entry_tokens(entry: Entry, renderer: MessageRenderer) -> int:
    """Count the tokens of a message in a later request, with its files, stored blocks and tool calls."""
    if entry.role == "assistant":
        return sum(total_tokens(group) for group in renderer.render_answer(entry))
    files = renderer.render_files(entry).tokens if entry.files else 0
    return renderer.render_user(entry).tokens + files + total_tokens(renderer.render_blocks(entry))


def exact_ratio(ratio: float) -> Fraction:
    # In floating point 0.29 * 100 is less than 29, which would move a limit by one token.
    return Fraction(str(ratio))


def _tail_start(rows: Sequence[T], room: Fraction, tokens_of: Callable[[T], int]) -> int:
    """Return the index of the first of the newest rows that fit into `room`; the last row always stays."""
    used, start = 0, len(rows)
    while start:
        used += tokens_of(rows[start - 1])
        if used > room and start < len(rows):
            break
        start -= 1
    return start
