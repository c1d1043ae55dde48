"""Ends as soon as a worker consumes the llm queue. Run by the launcher before it starts web."""

import sys
import time

from chat.protocol.tasks import DEFAULT_QUEUE
from config.celery import app

# Then web starts all the same: messages wait in the queue.
PATIENCE_S = 120.0


def main() -> None:
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        workers = app.control.inspect(timeout=0.5).active_queues() or {}
        if any(queue["name"] == DEFAULT_QUEUE for queues in workers.values() for queue in queues):
            return
        time.sleep(0.1)
    sys.stdout.write(f"no worker consumes the queue {DEFAULT_QUEUE} yet; going on without\n")


if __name__ == "__main__":
    main()
