"""Reads the task messages that wait on the broker."""

from celery import current_app

from chat.protocol.tasks import RUN_TURN


def queued_run_ids(queue: str = "llm") -> list[str]:
    """Take the run_turn messages off the queue; returns their run ids."""
    messages = queued(queue)
    assert {task for task, _ in messages} <= {RUN_TURN}
    return [run for _, run in messages]


def queued(queue: str = "llm") -> list[tuple[str, str]]:
    """Take all messages off the queue; returns (task, run id) of each."""
    found = []
    with current_app.connection_for_read() as broker:
        simple = broker.SimpleQueue(queue)
        while True:
            try:
                message = simple.get(block=False)
            except simple.Empty:
                break
            found.append((message.headers["task"], message.payload[1]["run_id"]))
            message.ack()
        simple.close()
    return found
