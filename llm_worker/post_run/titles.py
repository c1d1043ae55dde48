"""A session without a title gets one after its first answer: from the model that gave it, else from the question."""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import UUID

from chat.models import Run
from chat.runs import titles
from llm_worker.database import Database
from llm_worker.post_run.title_prompt import title_in, title_messages
from llm_worker.upstream.completion import Completion
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.model_request import Model, Request

logger = logging.getLogger(__name__)

# Six words need twenty tokens; the rest is for models that think first.
MAX_OUTPUT_TOKENS = 512
# All attempts together: a session may wait for its name, but not for long.
PATIENCE_S = 60.0


class CompletionClient(Protocol):
    """llm.LanguageModels, or whatever else answers."""

    async def complete(self, request: Request) -> Completion: ...


@dataclass(frozen=True)
class UntitledSession:
    """How the session began. for_now: what it is called if nobody knows better. model: who is asked; None: nobody."""

    session_id: UUID
    question: str
    answer: str
    for_now: str
    model: Model | None


async def title_session(run_id: str, database: Database, models: CompletionClient) -> None:
    """Name the session after this run's question and answer, unless it has a name. Repeating it changes nothing."""
    untitled = await database.call_with_retry(_load, run_id)
    if untitled is None:
        return
    title = await _asked(untitled, models) or untitled.for_now
    if title:
        await database.call_with_retry(titles.set_title, untitled.session_id, title)


def _load(run_id: Any) -> UntitledSession | None:
    """None: the session has a title already, or is gone."""
    run = Run.objects.for_work().filter(pk=run_id).first()
    session = run.turn.session if run else None
    if run is None or session is None or not session.is_unnamed:
        return None
    config = run.model_config
    # The demo cannot think of a title.
    model = resolve_model(config) if config and not config.is_demo else None
    question = run.turn.user_message.text
    return UntitledSession(
        session.pk, question, run.message.text, session.title or titles.provisional_title(question), model
    )


async def _asked(untitled: UntitledSession, models: CompletionClient) -> str:
    """The model's title; empty if it gives none in time."""
    model = untitled.model
    if model is None:
        return ""
    short = replace(model, max_output_tokens=min(model.max_output_tokens, MAX_OUTPUT_TOKENS))
    request = Request(short, title_messages(untitled.question, untitled.answer))
    try:
        async with asyncio.timeout(PATIENCE_S):
            completion = await models.complete(request)
    except (ModelFailed, TimeoutError) as error:
        logger.warning("session %s is named after its question: %r", untitled.session_id, error)
        return ""
    return "" if completion.finish_reason == "refusal" else title_in(completion.text)
