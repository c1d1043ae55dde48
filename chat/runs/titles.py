"""Titles of sessions that their owners have not named: when a worker is asked for one, how it is given, and what a
session is called until there is an answer to name it after."""

import logging
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import Run, Session, Turn
from chat.protocol.states import Status
from chat.protocol.tasks import TITLE_SESSION
from chat.runs.task_queue import UNREACHABLE, enqueue

FALLBACK_CHARACTERS: Final = 40
logger = logging.getLogger(__name__)


def request_title(turn_id: Any) -> None:
    """Of a session without a title that stays: have it named after the turn's first answer; if none was completed, the
    chat's first question names it until there is one. The caller holds the session's lock.

    A request that is lost on its way is made again by the end of the next turn.
    """
    if not settings.TITLES:
        return
    answered = Run.objects.filter(turn=turn_id, status=Status.COMPLETED).select_related("model_config")
    run = answered.order_by("model_index").first()
    if run is not None:
        transaction.on_commit(partial(_ask, run))
        return
    # Of the chat, and not of this turn: that may be one that waited behind the first, and was taken back.
    first = Turn.objects.filter(session__turns=turn_id).select_related("user_message")[0]
    title = provisional_title(first.user_message.text)
    if title and Session.objects.set_provisional_title(first.session_id, title):
        record_session_changed(Session(pk=first.session_id))


def provisional_title(question: str) -> str:
    """Its beginning, where no model names the session."""
    return " ".join(question.split())[:FALLBACK_CHARACTERS].rstrip()


def set_title(session_id: Any, title: str) -> bool:
    """Name the session and tell its tabs. False: its owner was faster, or it is gone."""
    with transaction.atomic():
        is_named = Session.objects.set_title(session_id, title)
        if is_named:
            record_session_changed(Session(pk=session_id))
    return is_named


def _ask(run: Run) -> None:
    try:
        enqueue(str(run.pk), run.queue, TITLE_SESSION)
    except UNREACHABLE as error:
        logger.warning("the session of run %s stays without a title for now: %s", run.pk, error)
