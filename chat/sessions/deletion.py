"""Deletes sessions: into the trash, from which their owner can restore them, and for good. features/trash has the routes."""

import logging
import time
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from redis.exceptions import RedisError

from chat.events import session_list
from chat.infrastructure import prefix_cache, revocation
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, run_log
from chat.models import Role, Run, Session, StoredBytes
from chat.presenters.sessions import annotate_sessions
from chat.protocol.errors import ApiError
from chat.runs.cancellation import stop_run
from knowledge.files import blobs
from knowledge.models import File

logger = logging.getLogger(__name__)

# Live workers end their runs within milliseconds. Later writes are fenced by the missing rows, and packets that a
# worker still appends to Redis expire.
STOP_TIMEOUT_S: Final = 1.0
POLL_S: Final = 0.02
# Attempts to delete rows; each fails only if a worker stores another row at the same moment.
_ATTEMPTS: Final = 5


def delete_session(session: Session) -> None:
    """Move the session to the trash, or delete it for good if it is temporary or there is no trash.

    Raises ApiError if it is deleted already. From the commit on no run starts in it; runs in progress are stopped,
    by the sweeper if this process fails to do so.
    """
    keep = timedelta(days=settings.KEEP_DELETED_DAYS)
    if not keep or session.is_temporary:
        delete_for_good(session)
        return
    if not Session.with_trash.move_to_trash(session.pk, keep):
        raise ApiError("session_not_found")
    after_trashing(session)


def after_trashing(session: Session) -> None:
    """Publish the deletion and stop the runs of a session, once its move to the trash is committed."""
    session_list.publish_deleted(session)
    _stop_runs(session.pk)


def restore_session(session: Session) -> Session:
    """Restore a session from the trash, unchanged. Raises ApiError if it is no longer there."""
    if not Session.with_trash.filter(pk=session.pk).restore():
        raise ApiError("session_not_found")
    restored = annotate_sessions(Session.objects.filter(pk=session.pk)).first()
    if restored is None:
        raise ApiError("session_not_found")
    session_list.publish_row(restored)
    return restored


def delete_for_good(session: Session) -> None:
    """Delete a session for good, in the trash or not. Raises ApiError if it is gone."""
    _delete_for_good(Session.with_trash.filter(pk=session.pk), session.pk)


def delete_from_trash(session: Session) -> None:
    """Delete a session in the trash for good. Raises ApiError if it is gone, or was restored meanwhile."""
    _delete_for_good(Session.with_trash.in_trash().filter(pk=session.pk), session.pk)


def _delete_for_good(wanted: QuerySet[Session], session_id: UUID) -> None:
    """Delete all rows of a session, then its keys in Redis.
    Raises ApiError if it is not in `wanted`, a query that is evaluated only when the row is locked."""
    _stop_runs(session_id)
    _wait_for_runs(session_id)
    if not _delete_rows(wanted):
        raise ApiError("session_not_found")


def delete_empty(session: Session) -> None:
    """Delete a session for good if it has no messages. Raises ApiError if it has one, or is gone."""
    with transaction.atomic():
        # A concurrent send has locked the row before, or finds no session.
        locked = Session.objects.select_for_update().filter(pk=session.pk).first()
        if locked is None:
            raise ApiError("session_not_found")
        if locked.messages.exclude(role=Role.ROOT).exists():
            raise ApiError("session_not_empty")
        _delete_rows(Session.objects.filter(pk=session.pk))


def purge(session_id: UUID) -> bool:
    """Delete a session whose time in the trash is over. False: it is gone, or was restored meanwhile."""
    return _delete_rows(Session.with_trash.to_purge().filter(pk=session_id))


def expire(session_id: UUID) -> bool:
    """Delete a temporary session whose time is over. False: it is gone, was kept, or is in use again."""
    with transaction.atomic():
        unused = Session.objects.unused_within(timedelta()).filter(pk=session_id)
        # Locked before its runs are read: a concurrent send is seen, or finds no session.
        if unused.select_for_update().first() is None:
            return False
        if Run.objects.live().filter(turn__session=session_id).exists():
            return False
        Session.objects.move_to_trash(session_id, timedelta())
    return purge(session_id)


def _delete_rows(wanted: QuerySet[Session]) -> bool:
    """Delete the rows of the session that `wanted` selects. Returns False if it selects none.

    A worker that has not ended its run yet may store a row, such as a call or a request, that refers to a deleted row
    after Django has looked for such rows: then the deletion is tried again.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _try_to_delete_rows(wanted)
        except IntegrityError as error:
            logger.info("a row came while a session was deleted: %s", type(error).__name__)
    return _try_to_delete_rows(wanted)


def _try_to_delete_rows(wanted: QuerySet[Session]) -> bool:
    with transaction.atomic():
        # Locked before its runs are read: a concurrent send is deleted too, or finds no session.
        locked = wanted.select_for_update().first()
        if locked is None:
            return False
        session_id = locked.pk
        runs = list(Run.objects.filter(turn__session=locked))
        files = list(File.objects.of_session_alone(session_id).values_list("pk", flat=True))
        locked.delete()
        locked.pk = session_id
        File.objects.filter(pk__in=files).delete()
    _delete_keys(session_id, runs)
    session_list.publish_deleted(locked)
    StoredBytes.objects.refresh(locked.owner_id)
    if files:
        blobs.purge_on_commit()
    return True


def _stop_runs(session_id: UUID) -> None:
    """Stop the live runs of a session, newest first, so that the end of one does not start the next."""
    live = Run.objects.live().filter(turn__session=session_id).order_by("-turn__created_at")
    for run_id in live.values_list("pk", flat=True):
        stop_run(run_id)


def _wait_for_runs(session_id: UUID) -> None:
    """Wait up to STOP_TIMEOUT_S for the workers of its runs to publish the end."""
    live = Run.objects.live().filter(turn__session=session_id)
    limit = time.monotonic() + STOP_TIMEOUT_S
    while live.exists() and time.monotonic() < limit:
        time.sleep(POLL_S)


def _delete_keys(session_id: UUID, runs: list[Run]) -> None:
    logs = [event_log(session_id), *(run_log(session_id, run.pk) for run in runs)]
    keys = [key for log in logs for key in (log.meta, log.entries)]
    keys.append(prefix_cache.redis_key(session_id))
    # A worker that has not ended its run yet still needs the revocation key, which expires.
    keys += [
        revocation.key(session_id, revocation.part_of(run.pk, run.continuations))
        for run in runs
        if not run.is_live
    ]
    try:
        sync_redis().delete(*keys)
    except RedisError as error:
        logger.warning("session %s: its keys are not deleted and will expire: %s", session_id, error)
