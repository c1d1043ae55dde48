"""Decide when a branch is too long, and where to cut it. Pure arithmetic over its rows.

Asking the model is summarise.py; what it is asked, prompt.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chat.transcript.entries import Entry
from llm_worker.request.message import total_tokens
from llm_worker.request.message_renderer import MessageRenderer


@dataclass(frozen=True, slots=True)
class Row:
    """A message of the branch and what it costs in a later request: its files, blocks and calls included."""

    entry: Entry
    tokens: int

    @property
    def is_users(self) -> bool:
        return self.entry.role == "user"


@dataclass(frozen=True, slots=True)
class CompressionParams:
    """history_tokens: of the summary and the rows after its cutoff.  history_window: what a request has for them."""

    history_tokens: int
    history_window: int
    is_due: bool


@dataclass(frozen=True, slots=True)
class Split:
    """older: what the summary will stand for, never empty.  recent: kept verbatim; begins with a user row."""

    older: Sequence[Row]
    recent: Sequence[Row]

    @property
    def cutoff(self) -> str:
        """The last message that the summary stands for."""
        return self.older[-1].entry.id


def measured(entries: Sequence[Entry], renderer: MessageRenderer) -> list[Row]:
    return [Row(entry, _tokens(entry, renderer)) for entry in entries]


def get_compression_params(
    rows: Sequence[Row], summary_tokens: int, *, history_window: int, trigger_ratio: float
) -> CompressionParams:
    """rows: the branch after the cutoff of its summary, oldest first.  summary_tokens: 0 without one.

    Due is a history strictly longer than its part of the window.
    """
    tokens = summary_tokens + sum(row.tokens for row in rows)
    limit = _exactly(trigger_ratio) * history_window
    return CompressionParams(tokens, history_window, is_due=tokens > limit)


def get_messages_to_summarize(rows: Sequence[Row], history_tokens: int, recent_ratio: float) -> Split | None:
    """Where the rows part. None: nothing is older than what must stay.

    The newest that fit into their part of the history stay, at least one; the cut is right before a user row.
    """
    kept_from = _tail(rows, _exactly(recent_ratio) * history_tokens)
    asked = [index for index, row in enumerate(rows) if row.is_users]
    if not asked:
        return None
    cut = next((index for index in asked if index >= kept_from), asked[-1])
    return Split(rows[:cut], rows[cut:]) if cut else None


def split_at(rows: Sequence[Row], cutoff: object) -> Split:
    """With this message as the last of the older ones; it is one of the rows."""
    cut = next(index for index, row in enumerate(rows, start=1) if row.entry.id == str(cutoff))
    return Split(rows[:cut], rows[cut:])


def _tail(rows: Sequence[Row], room: Fraction) -> int:
    """Where the newest rows begin that fit into `room`; the last one in any case."""
    used, start = 0, len(rows)
    while start and (start == len(rows) or used + rows[start - 1].tokens <= room):
        start -= 1
        used += rows[start].tokens
    return start


def _tokens(entry: Entry, renderer: MessageRenderer) -> int:
    if entry.role == "assistant":
        return sum(total_tokens(group) for group in renderer.render_answer(entry))
    files = renderer.render_files(entry).tokens if entry.files else 0
    return renderer.render_user(entry).tokens + files + total_tokens(renderer.render_blocks(entry))


def _exactly(ratio: float) -> Fraction:
    # 0.29 * 100 is less than 29 in floating point, which would move a limit by a token.
    return Fraction(str(ratio))
