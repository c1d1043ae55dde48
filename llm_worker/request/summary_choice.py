"""Chooses the summary that a run uses, if its window needs one, and the messages that a new one leaves verbatim. Pure.

Compression splits branches before the verbatim tail, and a run uses the tail to report what the next compression would summarise.

A summary is in force for windows no larger than the window it was made for. A run with more room uses it only when the
branch does not fit otherwise. The choice is repeated for every question of the branch, oldest first, so that a later
turn makes the same choice and extends the prefix that the model server has cached, until the window is full again.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, TypeVar
from uuid import UUID

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


# Windows of one model differ from turn to turn with the project and the dynamic context; from this share on, a smaller
# window counts as the same.
SAME_WINDOW_SHARE = 0.75


class BranchSummary(NamedTuple):
    """A summary on the branch. Depths count from the message to answer, which has depth 0.

    tokens: in a request.  made_for: the history window it was written for; 0 if unknown.
    """

    id: UUID
    cutoff: UUID
    parent_depth: int
    cutoff_depth: int
    tokens: int
    made_for: int


class MessageSize(NamedTuple):
    """The tokens of a message in a later request, with its calls, files and blocks."""

    depth: int
    is_question: bool
    tokens: int


def choose_summary(
    summaries: Sequence[BranchSummary], window: int, load_sizes: Callable[[], Iterable[MessageSize]]
) -> BranchSummary | None:
    """Return the summary to use; None means to send the whole branch.

    summaries: those whose parents are on the branch, oldest first.  window: the run's own history window.
    load_sizes: the messages of the branch in any order; called only if the choice depends on them.
    """
    replaced = [summary.cutoff_depth for summary in summaries]
    are_all_in_force = all(_is_in_force(summary, window) for summary in summaries)
    if are_all_in_force and replaced == sorted(replaced, reverse=True):
        return summaries[-1] if summaries else None
    return _Choice(summaries, window, list(load_sizes())).made()


def _is_in_force(summary: BranchSummary, window: int) -> bool:
    return summary.made_for >= SAME_WINDOW_SHARE * window


class _Choice:
    """The choice as it was, or would have been, made for each question of the branch."""

    def __init__(self, summaries: Sequence[BranchSummary], window: int, sizes: Sequence[MessageSize]) -> None:
        self.summaries, self.window = summaries, window
        self.questions = sorted((size.depth for size in sizes if size.is_question), reverse=True)
        tokens = {size.depth: size.tokens for size in sizes}
        deepest = max([*tokens, *(summary.cutoff_depth for summary in summaries)], default=0)
        # _below[depth]: tokens of the messages nearer to the end than `depth`.
        self._below = [0, *accumulate(tokens.get(depth, 0) for depth in range(deepest + 1))]

    def made(self) -> BranchSummary | None:
        current: BranchSummary | None = None
        waiting = list(reversed(self.summaries))
        known: list[BranchSummary] = []
        for question in self.questions:
            while waiting and waiting[-1].parent_depth >= question:
                summary = waiting.pop()
                known.append(summary)
                if _is_in_force(summary, self.window) and self._replaces(summary, current, question):
                    current = summary
            if self._history(current, question) > self.window:
                current = self._shortest_of_largest(known, current, question)
        return current

    def _replaces(self, summary: BranchSummary, current: BranchSummary | None, question: int) -> bool:
        """Return whether a later summary replaces the current one.
        It does unless it was made for so much more room that it would not fit.
        """
        is_shorter = current is None or summary.cutoff_depth <= current.cutoff_depth
        return is_shorter or self._history(summary, question) <= self.window

    def _shortest_of_largest(
        self, known: Sequence[BranchSummary], current: BranchSummary | None, question: int
    ) -> BranchSummary | None:
        """Return the newest summary made for the largest window if it shortens the history, otherwise `current`."""
        best = max(known, key=lambda summary: (summary.made_for, -summary.cutoff_depth), default=None)
        now = self._history(current, question)
        return best if best and self._history(best, question) < now else current

    def _history(self, summary: BranchSummary | None, question: int) -> int:
        """Return the tokens of the history with this summary when the question at this depth was to be answered."""
        if summary is None:
            return self._below[-1] - self._below[question]
        return summary.tokens + max(0, self._below[summary.cutoff_depth] - self._below[question])
