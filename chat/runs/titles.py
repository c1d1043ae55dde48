"""Requests from a worker, and stores, the titles of sessions that their owners have not named.

Does not write titles: that is llm_worker/side_requests/titles.py.
"""

import logging
from functools import partial
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.models import Run, Session, Turn
from chat.protocol.states import Status
from chat.protocol.tasks import TITLE_SESSION
from chat.runs.task_queue import UNREACHABLE, enqueue
from chat.transcript.plain_title import MAX_READ_CHARACTERS, without_marks

FALLBACK_CHARACTERS: Final = 40
logger = logging.getLogger(__name__)


def request_title(turn_id: UUID) -> None:
    """Request a title for a session without one, when one of its turns has ended. The caller holds the session's lock.

    The title follows the turn's first completed answer. Without one, the session's first question provides a
    provisional title. A request lost by the broker is repeated at the end of the next turn.
    """
    if not settings.TITLES:
        return
    answered = Run.objects.filter(turn=turn_id, status=Status.COMPLETED).select_related("model_config")
    run = answered.order_by("model_index").first()
    if run is not None:
        transaction.on_commit(partial(_enqueue_title, run))
        return
    # The first turn of the session, not this one, which may have waited behind it and been withdrawn.
    first = Turn.objects.filter(session__turns=turn_id).select_related("user_message")[0]
    title = provisional_title(first.user_message.text)
    if title and Session.objects.set_provisional_title(first.session_id, title):
        record_session_changed(Session(pk=first.session_id))


def provisional_title(question: str) -> str:
    """Shorten the question to the title of a session that no model has named, at a space if its second half has one.
    The marks of Markdown are left out.
    """
    begin = question.strip()[:MAX_READ_CHARACTERS]
    words = " ".join(" ".join(map(without_marks, begin.splitlines())).split())
    if len(words) <= FALLBACK_CHARACTERS:
        return words
    begin = words[: FALLBACK_CHARACTERS - 1]
    space = words.rfind(" ", 0, FALLBACK_CHARACTERS)
    return f"{begin[:space] if space >= FALLBACK_CHARACTERS // 2 else begin}…"


def set_title(session_id: UUID, title: str) -> bool:
    """Store a title and notify the session's tabs. Returns False if the owner has named it or it was deleted."""
    with transaction.atomic():
        is_named = Session.objects.set_title(session_id, title)
        if is_named:
            record_session_changed(Session(pk=session_id))
    return is_named


def _enqueue_title(run: Run) -> None:
    try:
        enqueue(str(run.pk), run.queue, TITLE_SESSION)
    except UNREACHABLE as error:
        logger.warning("run %s: the title of its session is not requested yet: %s", run.pk, error)
