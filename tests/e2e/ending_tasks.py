"""Two more tasks of an llm worker, in which it fails: one in the task's thread, one in the consumer.

python -m celery -A config worker … --include tests.e2e.ending_tasks
"""

from collections.abc import Callable
from typing import Any, NoReturn

from celery import shared_task

EXIT = "tests.exit_in_a_thread"
FAIL = "tests.fail_in_the_consumer"


@shared_task(name=EXIT)
def exit_in_a_thread() -> None:
    raise SystemExit(3)


@shared_task(name=FAIL, Strategy="tests.e2e.ending_tasks:failing")
def fail_in_the_consumer() -> None:
    """Never called."""


def failing(*_: Any) -> Callable[..., NoReturn]:
    """What the consumer does with a message of the task."""

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise AttributeError("a fault in the consumer")

    return fail
