"""An llm worker with two more tasks, in which the worker fails: one in the task's thread, one in the consumer.

python -m tests.e2e.ending_worker -A config worker …
"""

from collections.abc import Callable
from typing import Any, NoReturn

from celery import shared_task
from celery.__main__ import main

EXIT = "tests.exit_in_a_thread"
FAIL = "tests.fail_in_the_consumer"


@shared_task(name=EXIT)
def exit_in_a_thread() -> None:
    raise SystemExit(3)


def raising(*_: Any) -> Callable[..., NoReturn]:
    """What the consumer does with a message of the task."""

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise AttributeError("a fault in the consumer")

    return fail


@shared_task(name=FAIL, Strategy="tests.e2e.ending_worker:raising")
def fail_in_the_consumer() -> None:
    raise AssertionError("no thread gets it")


if __name__ == "__main__":
    main()
