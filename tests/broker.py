"""Reads the task messages that wait on the broker."""

from celery import current_app

from chat.protocol.tasks import RUN_TURN


def queued_run_ids(queue: str = "llm") -> list[str]:
    """Take all messages off the queue; returns the run ids of the run_turn messages. Other tasks share the queue.

    Tests that commit leave their messages: a test takes those of earlier ones off before it begins.
    """
    return [run for task, run in queued(queue) if task == RUN_TURN]


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
