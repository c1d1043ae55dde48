"""Deletes a session: stops its runs, deletes its rows, then deletes its keys in Redis."""

import logging
import time
from typing import Final
from uuid import UUID

from django.db import transaction
from redis.exceptions import RedisError

from chat.events import session_list
from chat.infrastructure import prefix_cache, revocation
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, run_log
from chat.models import Run, Session, StoredBytes
from chat.protocol.errors import ApiError
from chat.runs.cancellation import stop_run
from knowledge import blobs
from knowledge.models import File

logger = logging.getLogger(__name__)

# Live workers end their runs within milliseconds. Later writes are fenced by the missing rows, and what a worker still
# appends to Redis expires.
STOP_TIMEOUT_S: Final = 1.0
POLL_S: Final = 0.02


def delete_session(session: Session) -> None:
    """Raises ApiError if it is deleted already."""
    _stop_runs(session.pk)
    with transaction.atomic():
        # Locked before its runs are read: a concurrent send is deleted too, or finds no session.
        locked = Session.objects.select_for_update().filter(pk=session.pk).first()
        if locked is None:
            raise ApiError("session_not_found")
        runs = list(Run.objects.filter(turn__session=locked))
        files = list(File.objects.of_session_alone(locked.pk).values_list("pk", flat=True))
        locked.delete()
        File.objects.filter(pk__in=files).delete()
    _delete_keys(session.pk, runs)
    session_list.publish_deleted(session)
    StoredBytes.objects.refresh(session.owner_id)
    if files:
        blobs.purge_on_commit()


def _stop_runs(session_id: UUID) -> None:
    """Stop all runs, and wait up to STOP_TIMEOUT_S for their workers to publish the end."""
    live = Run.objects.live().filter(turn__session=session_id)
    for run_id in live.values_list("pk", flat=True):
        stop_run(run_id)
    limit = time.monotonic() + STOP_TIMEOUT_S
    while live.exists() and time.monotonic() < limit:
        time.sleep(POLL_S)


def _delete_keys(session_id: UUID, runs: list[Run]) -> None:
    logs = [event_log(session_id), *(run_log(session_id, run.pk) for run in runs)]
    keys = [key for log in logs for key in (log.meta, log.entries)]
    keys.append(prefix_cache.redis_key(session_id))
    # A worker that has not ended its run yet still needs the revocation key, which expires.
    keys += [revocation.key(session_id, run.pk) for run in runs if not run.is_live]
    try:
        sync_redis().delete(*keys)
    except RedisError as error:
        logger.warning("session %s: its keys are not deleted and will expire: %s", session_id, error)
