"""Requests titles from a worker when turns end; without an answer, the question is a provisional title."""

import logging
from functools import partial
from typing import Final

from django.conf import settings
from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.models import ChatMessage, Run, Session, Turn
from chat.models.sql.turns import TurnState
from chat.protocol.states import Status
from chat.runs.task_queue import UNREACHABLE, enqueue
from chat.runs.turn_parts import TurnPart, register
from chat.transcript.readable_text import provisional_title, shorten_title

# run_id: str, of the answer that the session is named after. Workers of other releases read the name: do not change it.
TITLE_SESSION: Final = "llm_worker.title_session"

logger = logging.getLogger(__name__)


class TitlePart(TurnPart):
    """Requests a title for a session without one, when one of its turns has ended.

    The title follows the turn's first completed answer. Without one, the session's first question provides a
    provisional title. A request lost by the broker is repeated at the end of the next turn.
    """

    def after_turn(self, turn: TurnState) -> None:
        if not (turn.is_untitled and settings.TITLES):
            return
        answered = Run.objects.filter(turn=turn.id, status=Status.COMPLETED).select_related("model_config")
        run = answered.order_by("model_index").first()
        if run is not None:
            transaction.on_commit(partial(_enqueue_title, run))
            return
        # The first turn of the session, not this one, which may have waited behind it and been withdrawn.
        first = Turn.objects.filter(session__turns=turn.id).select_related("user_message")[0]
        title = title_from(first.user_message)
        if title and Session.objects.set_provisional_title(first.session_id, title):
            record_session_changed(Session(pk=first.session_id))


def title_from(question: ChatMessage) -> str:
    """Return the title without a model: the beginning of the question or, if it has no text, of the names of its files."""
    return provisional_title(question.text) if question.text else shorten_title(names_of_files(question))


def names_of_files(question: ChatMessage) -> str:
    return ", ".join(question.attachments.chosen().values_list("file__name", flat=True))


def _enqueue_title(run: Run) -> None:
    try:
        enqueue(str(run.pk), run.queue, TITLE_SESSION)
    except UNREACHABLE as error:
        logger.warning("run %s: the title of its session is not requested yet: %s", run.pk, error)


register(TitlePart())
