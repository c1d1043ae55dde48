"""Turns as clients see them: the answer to a send, and the payload of `turn_started`."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from chat.models import Run, Turn
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, doc


class StartedRunAnswer(Answer):
    id: UUID
    message: UUID
    model: str
    model_index: int


class StartedAnswer(Answer):
    turn: UUID
    user_message: UUID
    runs: list[StartedRunAnswer]


class RunContinued(Answer):
    turn: UUID
    run: UUID
    message: UUID
    attempt: Annotated[int, doc("The first that belongs to the continuation.")]


def present_continuation(run: Run) -> JSONObject:
    """Present the payload of `run_continued`."""
    return RunContinued(turn=run.turn_id, run=run.pk, message=run.message_id, attempt=run.attempt).json()


def present_turn(turn: Turn, runs: Sequence[Run]) -> JSONObject:
    """Present a turn. runs: those of the turn, by model_index."""
    started = [StartedRunAnswer.from_row(run, message=run.message_id) for run in runs]
    return StartedAnswer(turn=turn.pk, user_message=turn.user_message_id, runs=started).json()
