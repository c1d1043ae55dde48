"""Titles of sessions that their owners have not named: when a worker is asked for one, and how it is given."""

import logging
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from chat import editing
from chat.models import Run, Session
from chat.protocol import TITLE_SESSION
from chat.runs.enqueueing import UNREACHABLE, enqueue
from chat.states import Status

logger = logging.getLogger(__name__)


def ask_on_commit(turn_id: Any) -> None:
    """A turn of a session without a title ends: have it named after its first answer, if there is one.

    A request that is lost on its way is made again by the end of the next turn.
    """
    answered = Run.objects.filter(turn=turn_id, status=Status.COMPLETED).select_related("model_config")
    run = answered.order_by("model_index").first() if settings.TITLES else None
    if run is not None:
        transaction.on_commit(partial(_ask, run))


def give(session_id: Any, title: str) -> bool:
    """Name the session and tell its tabs. False: its owner was faster, or it is gone."""
    with transaction.atomic():
        is_named = Session.objects.entitle(session_id, title)
        if is_named:
            editing.tell(Session(pk=session_id))
    return is_named


def _ask(run: Run) -> None:
    try:
        enqueue(str(run.pk), run.queue, TITLE_SESSION)
    except UNREACHABLE as error:
        logger.warning("the session of run %s stays without a title for now: %s", run.pk, error)
