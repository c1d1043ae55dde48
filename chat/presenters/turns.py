"""Turns as clients see them: the answer to a send, and the payload of `turn_started`."""

from collections.abc import Sequence

from chat.models import Run, Turn
from chat.presenters.json_values import JSONObject


def present_continuation(run: Run) -> JSONObject:
    """The payload of `run_continued`. attempt: what the run showed before belongs to earlier ones."""
    return {
        "turn": str(run.turn_id),
        "run": str(run.pk),
        "message": str(run.message_id),
        "attempt": run.attempt,
    }


def present_turn(turn: Turn, runs: Sequence[Run]) -> JSONObject:
    """runs: of the turn, by model_index."""
    return {
        "turn": str(turn.pk),
        "user_message": str(turn.user_message_id),
        "runs": [
            {
                "id": str(run.pk),
                "message": str(run.message_id),
                "model": run.model,
                "model_index": run.model_index,
            }
            for run in runs
        ],
    }
