"""Holds the process's advisory lock from before its first claim until its end: the sign of life for the sweeper.

Runs in a separate thread, so that a busy event loop or a slow query does not look like a dead process
(chat/infrastructure/liveness.py).
"""

import logging
import threading

import psycopg

from chat.infrastructure.background import start_thread
from chat.infrastructure.liveness import Lock

logger = logging.getLogger(__name__)

# Interval of reconnecting: shorter than the time the sweeper waits before it trusts free locks.
CHECK_S = 1.0


class LivenessLock:
    def __init__(self, owner: int) -> None:
        self._lock = Lock(owner)
        self._held = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread and return when the lock is held. Waits for Postgres, until a signal handler raises."""
        self._thread = start_thread("liveness lock", self._keep)
        try:
            self._held.wait()
        except BaseException:
            self._ending.set()
            raise

    def stop(self) -> None:
        self._ending.set()
        if self._thread:
            self._thread.join()

    def _keep(self) -> None:
        while not self._ending.is_set():
            try:
                if self._lock.hold():
                    self._held.set()
                else:
                    # Postgres has not noticed yet that the previous connection is closed.
                    logger.warning("the liveness lock is not free yet")
            except psycopg.Error as error:
                logger.warning("the liveness lock waits for Postgres: %s", error)
            self._ending.wait(CHECK_S)
        self._lock.release()
