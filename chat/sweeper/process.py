"""The sweeper process: sweeps every second, and at once when a run is stopped.

Any number may run. A lease on the database's clock elects the leader (chat/models/lease.py); the others stand by.
They take over at once if the leader's advisory lock is free, or after its lease if its host is gone or frozen.
"""

import logging
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import psycopg
from django.db import DatabaseError, close_old_connections
from redis.exceptions import RedisError

from chat.infrastructure.liveness import Lock, new_sweeper
from chat.infrastructure.redis_client import sync_redis
from chat.models import Leadership
from chat.protocol.tasks import CONTROL_CHANNEL
from chat.sweeper.accounts import delete_accounts
from chat.sweeper.files import BlobKeeper
from chat.sweeper.periodic import PeriodicJob, attempt_repair
from chat.sweeper.purging import TemporaryPurger, TrashPurger
from chat.sweeper.retention import LoginPurger, McpPurger, RequestPurger, TokenUsePurger, VersionPurger
from chat.sweeper.runs import sweep
from chat.sweeper.upkeep import SessionUpkeep

logger = logging.getLogger(__name__)

ROLE: Final = "sweeper"
EVERY_S: Final = 1.0
RENEWS_AFTER_S: Final = 0.5
# For so long after the leader has connected, free locks are not trusted: after a restart of Postgres every worker must
# first connect and take its lock again, and live workers must not be declared dead.
DISTRUST_S: Final = 5.0
# For so long after Postgres was unreachable or read-only, nothing is repaired: owners that live could not extend their
# leases, and hold ends of runs that they are about to store.
PAUSE_S: Final = 5.0


class Sweeper:
    """A process that stands by or leads."""

    def __init__(self) -> None:
        self._lock = Lock(new_sweeper())
        self._jobs: list[PeriodicJob] = [
            RequestPurger(), TokenUsePurger(), VersionPurger(), LoginPurger(), McpPurger(), TrashPurger(), TemporaryPurger(), SessionUpkeep(),
        ]  # fmt: skip
        self._blob_keeper = BlobKeeper()
        self._leads_since: float | None = None
        self._sweeps_from = 0.0
        self._stopping = False
        self._pubsub: Any = None

    def run(self) -> None:
        """Run until SIGTERM or SIGINT: lead, or stand by."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._stopping:
            try:
                self._lead()
            except (psycopg.Error, DatabaseError) as error:
                self._leads_since = None
                self._sweeps_from = time.monotonic() + PAUSE_S
                logger.warning("sweeping waits for Postgres: %s", error)
            self._wait_for_next_sweep()
        self._lock.release()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _lead(self) -> None:
        """Make one pass, and renew the lease at its beginning and behind a part that took long.
        A part that outlasts the lease runs beside another sweeper, which is safe."""
        close_old_connections()
        now = renews_at = time.monotonic()
        for part in (self._sweep, self._run_jobs, self._keep_files):
            if time.monotonic() >= renews_at:
                if not self._holds_lease(now):
                    break
                renews_at = time.monotonic() + RENEWS_AFTER_S
            self._attempt(part, now)
        close_old_connections()

    def _attempt(self, part: Callable[[float], None], now: float) -> None:
        """Run a part. If it fails for another reason than the database, the other parts and the next sweep go on."""
        try:
            part(now)
        except (psycopg.Error, DatabaseError):
            raise
        except Exception:
            logger.exception("%s failed, the next sweep tries again", part.__name__.strip("_"))

    def _holds_lease(self, now: float) -> bool:
        self._lock.hold()
        if not Leadership.objects.hold(ROLE, self._lock.number):
            self._leads_since = None
            return False
        if self._leads_since is None:
            self._leads_since = now
            logger.info("this sweeper leads now")
        return True

    def _sweep(self, now: float) -> None:
        if now < self._sweeps_from:
            return
        since = now if self._leads_since is None else self._leads_since
        report = sweep(trust_locks=now - since > DISTRUST_S)
        if str(report):
            logger.info("swept: %s", report)

    def _run_jobs(self, now: float) -> None:
        for job in self._jobs:
            done = attempt_repair(type(job).__name__, job.run, now)
            if done and job.what:
                logger.info("purged: %s %s", done, job.what)

    def _keep_files(self, now: float) -> None:
        self._blob_keeper.purge_in_background(now)
        delete_accounts()

    def _wait_for_next_sweep(self) -> None:
        """Wait a second, or until a stop is requested: a stopped run whose worker is dead ends at once."""
        limit = time.monotonic() + EVERY_S
        try:
            while not self._stopping and (left := limit - time.monotonic()) > 0:
                if self._stop_requests().get_message(ignore_subscribe_messages=True, timeout=left):
                    return
        except RedisError:
            self._pubsub = None
            time.sleep(max(0.0, limit - time.monotonic()))

    def _stop_requests(self) -> Any:
        """Return the subscription to the control channel; subscribe again after an error."""
        if self._pubsub is None:
            redis: Any = sync_redis()
            self._pubsub = redis.pubsub()
            self._pubsub.subscribe(CONTROL_CHANNEL)
        return self._pubsub
