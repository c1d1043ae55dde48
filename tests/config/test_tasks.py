"""What is sent by name is known to the workers."""

from chat.protocol import TASK_NAMES, TOOL_NAMES
from config.celery import app
from llm_worker.tools import TOOLS


def test_every_declared_task_is_registered() -> None:
    app.loader.import_default_modules()
    assert set(TASK_NAMES) <= set(app.tasks)


def test_the_tools_an_agent_may_be_given_are_the_workers() -> None:
    assert set(TOOLS) == TOOL_NAMES
