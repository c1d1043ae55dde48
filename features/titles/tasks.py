"""The Celery task of titles, which the llm workers have."""

from celery import shared_task

from features.titles.generation import title_session
from features.titles.turn_part import TITLE_SESSION
from llm_worker.attempt import runtime


@shared_task(name=TITLE_SESSION)
def set_title_of_session(*, run_id: str, **_later: object) -> None:
    """Set the title of the run's session, if it has none. A second delivery does nothing.

    Does nothing while the worker drains: the next turn requests the title again.
    """
    runtime.current().run_beside(lambda services: title_session(run_id, services.database, services.models))
