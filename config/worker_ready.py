"""Waits until a worker consumes the default queue. Run by the launcher before it starts web."""

import sys
import time

from chat.protocol.tasks import DEFAULT_QUEUE
from config.celery import app

# After this time web starts in any case: messages wait in the queue.
TIMEOUT_S = 120.0


def main() -> None:
    limit = time.monotonic() + TIMEOUT_S
    while time.monotonic() < limit:
        workers = app.control.inspect(timeout=0.5).active_queues() or {}
        if any(queue["name"] == DEFAULT_QUEUE for queues in workers.values() for queue in queues):
            return
        time.sleep(0.1)
    sys.stdout.write(f"no worker consumes the queue {DEFAULT_QUEUE} yet; starting web without one\n")


if __name__ == "__main__":
    main()
