"""The sweeper process: sweeps every second, and at once when a run is stopped.

Any number may run. A Postgres advisory lock elects the leader; the others stand by and take over within seconds.
"""

import logging
import signal
import time
from types import FrameType
from typing import Any, Final

import psycopg
from django.db import DatabaseError, close_old_connections
from redis.exceptions import RedisError

from chat.infrastructure.liveness import Lock
from chat.infrastructure.redis_client import sync_redis
from chat.protocol.tasks import CONTROL_CHANNEL
from chat.sweeper.files import BlobKeeper
from chat.sweeper.retention import RequestPurger, VersionPurger
from chat.sweeper.runs import sweep
from chat.sweeper.upkeep import SessionUpkeep

logger = logging.getLogger(__name__)

# The key of the leader's advisory lock. Even, because owner numbers are odd.
LEADER: Final = 0x7475726E_77697264
EVERY_S: Final = 1.0
# Free locks do not count for so long after the leader has connected: after a restart of Postgres every worker must
# first connect and take its lock again, so live workers are not declared dead.
DISTRUST_S: Final = 5.0


class Sweeper:
    """One process that stands by or leads."""

    def __init__(self) -> None:
        self._leader = Lock(LEADER)
        self._purger = RequestPurger()
        self._version_purger = VersionPurger()
        self._upkeep = SessionUpkeep()
        self._blob_keeper = BlobKeeper()
        self._leads_since: float | None = None
        self._stopping = False
        self._pubsub: Any = None

    def run(self) -> None:
        """Stand by or lead until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._stopping:
            try:
                self._lead()
            except (psycopg.Error, DatabaseError) as error:
                self._leads_since = None
                logger.warning("Postgres is unreachable, sweeping waits: %s", error)
            self._wait_for_next_sweep()
        self._leader.release()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _lead(self) -> None:
        if not self._leader.hold():
            self._leads_since = None
            return
        now = time.monotonic()
        if self._leads_since is None:
            self._leads_since = now
            logger.info("this sweeper leads now")
        close_old_connections()
        report = sweep(trust_locks=now - self._leads_since > DISTRUST_S)
        purged = self._purger.purge(now)
        versions = self._version_purger.purge(now)
        self._upkeep.tend(now)
        self._blob_keeper.tend(now)
        close_old_connections()
        if purged:
            logger.info("purged: %s requests to models", purged)
        if versions:
            logger.info("purged: %s versions of prompts", versions)
        if str(report):
            logger.info("swept: %s", report)

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
        """The subscription to the control channel; reconnects after an error."""
        if self._pubsub is None:
            redis: Any = sync_redis()
            self._pubsub = redis.pubsub()
            self._pubsub.subscribe(CONTROL_CHANNEL)
        return self._pubsub
