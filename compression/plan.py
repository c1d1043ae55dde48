"""Decides whether a branch is too long, and where the summarised part ends. Pure arithmetic over its rows.

Does not ask the model (summarise.py) or word its prompt (prompt.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chat.transcript.entries import Entry
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.summary_choice import entry_tokens, exact_ratio, verbatim_start


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
    """The size of a history.  history_tokens: of the summary and the rows after its cutoff.  history_window: the tokens
    of a request that are left for them.  is_due: whether a summary is needed."""

    history_tokens: int
    history_window: int
    is_due: bool


@dataclass(frozen=True, slots=True)
class Split:
    """A branch in two parts.
    older: the rows to summarise, never empty.  recent: the rows kept verbatim, from a user row on."""

    older: Sequence[Row]
    recent: Sequence[Row]

    @property
    def cutoff(self) -> str:
        """The id of the last message that the summary replaces."""
        return self.older[-1].entry.id


def measure_rows(entries: Sequence[Entry], renderer: MessageRenderer) -> list[Row]:
    return [Row(entry, entry_tokens(entry, renderer)) for entry in entries]


def get_compression_params(
    rows: Sequence[Row], summary_tokens: int, *, history_window: int, trigger_ratio: float
) -> CompressionParams:
    """Measure the history. A summary is due if the history is strictly longer than `trigger_ratio` of the window.

    rows: the branch after the cutoff of its summary, oldest first.  summary_tokens: 0 without a summary.
    """
    tokens = summary_tokens + sum(row.tokens for row in rows)
    limit = exact_ratio(trigger_ratio) * history_window
    return CompressionParams(tokens, history_window, is_due=tokens > limit)


def get_messages_to_summarize(rows: Sequence[Row], history_tokens: int, recent_ratio: float) -> Split | None:
    """Split the rows right before a user row. Returns None if all rows must stay verbatim.

    The newest rows that fit into `recent_ratio` of the history stay verbatim, at least one row.
    """
    room = exact_ratio(recent_ratio) * history_tokens
    cut = verbatim_start(rows, room, tokens_of=lambda row: row.tokens, is_question=lambda row: row.is_users)
    return Split(rows[:cut], rows[cut:]) if cut else None
