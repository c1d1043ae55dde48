"""Titles an untitled session after its first answer: by the model that answered, else after the question."""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Protocol
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

# Six words need twenty tokens; the rest is for models that reason first.
MAX_OUTPUT_TOKENS = 512
# All retries together.
TIMEOUT_S = 60.0


class CompletionClient(Protocol):
    """llm.LanguageModels, or a fake."""

    async def complete(self, request: Request) -> Completion: ...


@dataclass(frozen=True)
class UntitledSession:
    """The first question and answer. provisional_title: the fallback. model: the model to ask; None: no model."""

    session_id: UUID
    question: str
    answer: str
    provisional_title: str
    model: Model | None


async def title_session(run_id: str, database: Database, models: CompletionClient) -> None:
    """Set the session's title from this run's question and answer, unless it has one. Idempotent."""
    untitled = await database.call_with_retry(_load, run_id)
    if untitled is None:
        return
    title = await _generate_title(untitled, models) or untitled.provisional_title
    if title:
        await database.call_with_retry(titles.set_title, untitled.session_id, title)


def _load(run_id: str) -> UntitledSession | None:
    """None if the session has a title already or is deleted."""
    run = Run.objects.for_work().filter(pk=run_id).first()
    session = run.turn.session if run else None
    if run is None or session is None or not session.is_unnamed:
        return None
    config = run.model_config
    # The demo model writes no titles.
    model = resolve_model(config) if config and not config.is_demo else None
    question = run.turn.user_message.text
    return UntitledSession(
        session.pk, question, run.message.text, session.title or titles.provisional_title(question), model
    )


async def _generate_title(untitled: UntitledSession, models: CompletionClient) -> str:
    """The model's title; empty if it returns none in time."""
    model = untitled.model
    if model is None:
        return ""
    short = replace(model, max_output_tokens=min(model.max_output_tokens, MAX_OUTPUT_TOKENS))
    request = Request(short, title_messages(untitled.question, untitled.answer))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            completion = await models.complete(request)
    except (ModelFailed, TimeoutError) as error:
        logger.warning("session %s is named after its question: %r", untitled.session_id, error)
        return ""
    return "" if completion.finish_reason == "refusal" else title_in(completion.text)
