"""Names sessions as a worker does."""

from typing import TYPE_CHECKING

from features.titles.generation import title_session

if TYPE_CHECKING:
    from llm_worker.attempt.runtime import Runtime


def name_session(runtime: "Runtime", run_id: str) -> None:
    """Carry out the task of a title."""
    runtime.run_beside(lambda services: title_session(run_id, services.database, services.models))
