"""Reads the task messages that wait on the broker."""

from celery import current_app

from chat.protocol.tasks import CHECK_PROVIDER, RUN_TURN


def queued_run_ids(queue: str = "llm") -> list[str]:
    """Take all messages off the queue; returns the run ids of the run_turn messages. Checks of providers share the queue."""
    messages = queued(queue)
    assert {task for task, _ in messages} <= {RUN_TURN, CHECK_PROVIDER}
    return [run for task, run in messages if task == RUN_TURN]


def queued(queue: str = "llm") -> list[tuple[str, str]]:
    """Take all messages off the queue; returns (task, run id) of each; the id is empty where there is none."""
    found = []
    with current_app.connection_for_read() as broker:
        simple = broker.SimpleQueue(queue)
        while True:
            try:
                message = simple.get(block=False)
            except simple.Empty:
                break
            found.append((message.headers["task"], message.payload[1].get("run_id", "")))
            message.ack()
        simple.close()
    return found
