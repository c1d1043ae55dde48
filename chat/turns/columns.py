"""The columns of a question's answers: one column per model of a turn, with the answers that were made in it."""

from typing import NamedTuple, Self
from uuid import UUID

from chat.models import ChatMessage, Run
from chat.protocol.errors import ApiError
from chat.transcript.run_options import RunOptions


class AnswerColumns(NamedTuple):
    """The columns that are shown below a question, and the column in which an answer is replaced.

    runs: the newest run of each column, by model_index.  answers: the number of all answers of the question.
    replaced: the run whose answer is replaced; None means that a new turn has columns of its own.
    stays_aside: whether the conversation continues from another column than that of `replaced`.
    """

    runs: list[Run]
    answers: int
    replaced: Run | None
    stays_aside: bool

    @classmethod
    def read(cls, question: ChatMessage, replace: UUID | None) -> Self:
        """Read the columns. replace: the run to replace. Raises ApiError if it does not answer the question."""
        answering = Run.objects.filter(turn__user_message=question).select_related("turn")
        runs = list(answering.order_by("model_index", "created_at"))
        shown = next((run for run in runs if run.message_id == question.latest_child_id), None)
        replaced = next((run for run in runs if run.pk == replace), None)
        if replace and replaced is None:
            raise ApiError("run_not_found", field="replace")
        place = (replaced or shown or runs[-1]).turn.columns_id if runs else None
        newest = {run.model_index: run for run in runs if run.turn.columns_id == place}
        stays_aside = (
            replaced is not None
            and shown is not None
            and shown.turn.columns_id == place
            and shown.model_index != replaced.model_index
        )
        return cls(list(newest.values()), len(runs), replaced, stays_aside)

    @property
    def options(self) -> RunOptions:
        """The options of the replaced run, or of the columns' first run."""
        runs = [self.replaced] if self.replaced else self.runs
        return runs[0].options if runs else {}

    @property
    def models(self) -> list[str]:
        """The names of the models: that of the replaced run, or those of all columns."""
        return [run.model for run in ([self.replaced] if self.replaced else self.runs)]
