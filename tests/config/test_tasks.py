"""What is sent by name is known to the workers."""

from chat.protocol import TASK_NAMES
from config.celery import app


def test_every_declared_task_is_registered() -> None:
    app.loader.import_default_modules()
    assert set(TASK_NAMES) <= set(app.tasks)
