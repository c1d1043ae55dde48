"""Decides whether a branch is too long, and where the summarised part ends. Pure arithmetic over its rows.

Does not ask the model (summarise.py) or word its prompt (prompt.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from uuid import UUID

from chat.transcript.entries import Entry
from llm_worker.request.message import total_tokens
from llm_worker.request.message_renderer import MessageRenderer


@dataclass(frozen=True, slots=True)
class Row:
    """A message of the branch and its tokens in a later request, including files, stored blocks and tool calls."""

    entry: Entry
    tokens: int

    @property
    def is_users(self) -> bool:
        return self.entry.role == "user"


@dataclass(frozen=True, slots=True)
class CompressionParams:
    """history_tokens: of the summary and the rows after its cutoff.  history_window: tokens of a request for them."""

    history_tokens: int
    history_window: int
    is_due: bool


@dataclass(frozen=True, slots=True)
class Split:
    """older: the rows to summarise, never empty.  recent: the rows kept verbatim, beginning with a user row."""

    older: Sequence[Row]
    recent: Sequence[Row]

    @property
    def cutoff(self) -> str:
        """The id of the last message that the summary replaces."""
        return self.older[-1].entry.id


def measure_rows(entries: Sequence[Entry], renderer: MessageRenderer) -> list[Row]:
    return [Row(entry, _tokens(entry, renderer)) for entry in entries]


def get_compression_params(
    rows: Sequence[Row], summary_tokens: int, *, history_window: int, trigger_ratio: float
) -> CompressionParams:
    """Measure the history. It is due if it is strictly longer than `trigger_ratio` of the window.

    rows: the branch after the cutoff of its summary, oldest first.  summary_tokens: 0 without a summary.
    """
    tokens = summary_tokens + sum(row.tokens for row in rows)
    limit = _exactly(trigger_ratio) * history_window
    return CompressionParams(tokens, history_window, is_due=tokens > limit)


def get_messages_to_summarize(rows: Sequence[Row], history_tokens: int, recent_ratio: float) -> Split | None:
    """Split the rows right before a user row. Returns None if nothing is older than what must stay verbatim.

    The newest rows that fit into `recent_ratio` of the history stay, at least one.
    """
    kept_from = _tail_start(rows, _exactly(recent_ratio) * history_tokens)
    user_rows = [index for index, row in enumerate(rows) if row.is_users]
    if not user_rows:
        return None
    cut = next((index for index in user_rows if index >= kept_from), user_rows[-1])
    return Split(rows[:cut], rows[cut:]) if cut else None


def split_at(rows: Sequence[Row], cutoff: UUID | None) -> Split:
    """Split after the message `cutoff`, which is one of the rows."""
    cut = next(index for index, row in enumerate(rows, start=1) if row.entry.id == str(cutoff))
    return Split(rows[:cut], rows[cut:])


def _tail_start(rows: Sequence[Row], room: Fraction) -> int:
    """Return the index of the first of the newest rows that fit into `room`; the last row always stays."""
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
    # In floating point 0.29 * 100 is less than 29, which would move a limit by one token.
    return Fraction(str(ratio))
