"""Writes down what the webhooks of a user are to be told, with the end of a run, and with what it waits for."""

import logging
import time
from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

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
    """Stores an event of each run that ends, and of each response that ends by asking for approvals, for each enabled
    webhook. Temporary chats tell nothing: nobody could read their answers later. An answer to a user without webhooks
    costs one query.
    """

    def after_run(self, run_id: UUID, turn: TurnState) -> None:
        if webhooks := Webhook.objects.of_turn(turn.id):
            _store(webhooks, describe_end_of(Run.objects.for_work().get(pk=run_id)))

    def on_wait(self, run: Run) -> None:
        if webhooks := Webhook.objects.of_turn(run.turn_id):
            part = ResponsePart.load_last(Run.objects.for_work().get(pk=run.pk))
            # What asks a question goes on in the same response.
            if part.end:
                name = f"{name_part(run.pk.hex, part.number)}_waits"
                _store(webhooks, _describe(part, name, "completed", int(time.time())))

    def worker_part(self) -> Any:
        from features.webhooks.worker_part import WebhookWorker

        return WebhookWorker


def describe_end_of(run: Run) -> dict[str, Any]:
    """Return the event of a run that has ended. If its answer is continued, the next end has another id."""
    ended_at: Any = run.ended_at
    name = name_part(run.pk.hex, run.continuations)
    return _describe(ResponsePart.load_last(run), name, end_status(run), int(ended_at.timestamp()))


def _describe(part: ResponsePart, name: str, status: str, created_at: int) -> dict[str, Any]:
    """Return an event. name: of which its id is made.  created_at: seconds since 1970."""
    run = part.run
    rows = {"session": run.turn.session_id, "turn": run.turn_id, "message": run.message_id, "run": run.pk}
    return {
        "id": f"evt_{name}",
        "object": "event",
        "created_at": created_at,
        "type": f"response.{status}",
        "data": {"id": part.id, **{member: str(pk) for member, pk in rows.items()}},
    }


def _store(webhooks: Collection[UUID], event: Mapping[str, Any]) -> None:
    WebhookDelivery.objects.add(webhooks, [event])
    call_after_commit(_request_delivery)


def _request_delivery() -> None:
    try:
        send_message(DELIVER_WEBHOOKS, DEFAULT_QUEUE)
    except UNREACHABLE as error:
        logger.warning("webhooks are told a few seconds later: %s", error)


register(WebhookPart())
