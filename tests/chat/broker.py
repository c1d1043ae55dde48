"""What waits on the broker for a worker."""

from celery import current_app

from chat.protocol import RUN_TURN


def queued_run_ids(queue: str = "llm") -> list[str]:
    """The ids on the broker's queue, taken off it."""
    ids = []
    with current_app.connection_for_read() as broker:
        simple = broker.SimpleQueue(queue)
        while True:
            try:
                message = simple.get(block=False)
            except simple.Empty:
                break
            assert message.headers["task"] == RUN_TURN
            ids.append(message.payload[1]["run_id"])
            message.ack()
        simple.close()
    return ids
