"""Writes down, with the end of a turn, what the webhooks of its user are to be told of it."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from chat.infrastructure.background import call_after_commit
from chat.models import Run
from chat.models.sql.turns import TurnState
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message
from chat.runs.turn_parts import TurnPart, register
from features.openai.part_ends import name_part
from features.openai.response_parts import ResponsePart, end_status
from features.webhooks.models import Webhook, WebhookDelivery

# No arguments: what is due is in the database. Workers of other releases read the name: do not change it.
DELIVER_WEBHOOKS: Final = "llm_worker.deliver_webhooks"

logger = logging.getLogger(__name__)


class WebhookPart(TurnPart):
    """Stores an event of each run of a turn for each enabled webhook. Temporary chats tell nothing: nobody could read
    their answers later. A turn of a user without webhooks costs one query.
    """

    def after_turn(self, turn: TurnState) -> None:
        webhooks = Webhook.objects.of_turn(turn.id)
        if webhooks:
            runs = list(Run.objects.filter(turn=turn.id).for_work().order_by("model_index"))
            WebhookDelivery.objects.add(webhooks, [describe_end_of(run) for run in just_ended(runs)])
            call_after_commit(_request_delivery)

    def worker_part(self) -> Any:
        from features.webhooks.worker_part import WebhookWorker

        return WebhookWorker


def just_ended(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of a turn that has ended without those that had ended before one of them was continued."""
    continued_at = max((run.queued_at for run in runs if run.continuations), default=None)
    return [run for run in runs if not (continued_at and run.ended_at and run.ended_at < continued_at)]


def describe_end_of(run: Run) -> dict[str, Any]:
    """Return the event of a run that has ended. If its answer is continued, the next end has another id."""
    ended_at: Any = run.ended_at
    rows = {"session": run.turn.session_id, "turn": run.turn_id, "message": run.message_id, "run": run.pk}
    return {
        "id": f"evt_{name_part(run.pk.hex, run.continuations)}",
        "object": "event",
        "created_at": int(ended_at.timestamp()),
        "type": f"response.{end_status(run)}",
        "data": {"id": ResponsePart.load_last(run).id, **{name: str(pk) for name, pk in rows.items()}},
    }


def _request_delivery() -> None:
    try:
        send_message(DELIVER_WEBHOOKS, DEFAULT_QUEUE)
    except UNREACHABLE as error:
        logger.warning("webhooks are told a few seconds later: %s", error)


register(WebhookPart())
