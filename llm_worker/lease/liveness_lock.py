"""This process's sign of life: its advisory lock, held from before its first claim until its end.

In a thread of its own: a busy event loop or a slow query must not look like death (chat/infrastructure/liveness.py).
"""

import logging
import threading

import psycopg

from chat.infrastructure.liveness import Lock

logger = logging.getLogger(__name__)

# How soon a connection that was lost is made again: less than what the sweeper waits before it trusts free locks.
CHECK_S = 1.0


class LivenessLock:
    def __init__(self, owner: int) -> None:
        self._lock = Lock(owner)
        self._held = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="certificate", daemon=True)

    def start(self) -> None:
        """Returns when the lock is held; waits for Postgres."""
        self._thread.start()
        self._held.wait()

    def stop(self) -> None:
        self._ending.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ending.is_set():
            try:
                if self._lock.hold():
                    self._held.set()
                else:
                    # Postgres has not noticed yet that our previous connection is gone.
                    logger.warning("the certificate's lock is not free yet")
            except psycopg.Error as error:
                logger.warning("the certificate waits for Postgres: %s", error)
            self._ending.wait(CHECK_S)
        self._lock.release()
