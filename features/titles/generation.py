"""Titles an untitled session after its first answer: asks the model that answered, or else uses the question."""

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.infrastructure import log_context
from chat.models import ModelConfig, Run, Session
from chat.models.model_requests import Purpose
from chat.transcript.readable_text import readable_text, without_marks
from features.titles.turn_part import names_of_files, title_from
from llm_worker.database import Database
from llm_worker.request.model_message import LanguageModelInput, Message
from llm_worker.side_requests.recording import RecordingModels, SideTask
from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning
from llm_worker.upstream.chat_completion import CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.model_request import Model, Request

logger = logging.getLogger(__name__)

PROMPT: Final = Path(__file__).with_name("prompt.md").read_text(encoding="utf-8").strip()
# Six words need twenty tokens; the rest is for models that reason first.
MAX_OUTPUT_TOKENS = 512
# All retries together.
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class UntitledSession:
    """A session without a title, with question and answer of `run`. provisional_title: the fallback.

    model: the model to ask; None: no model.  config: its row.
    """

    run: UUID
    session_id: UUID
    question: str
    answer: str
    provisional_title: str
    model: Model | None
    config: ModelConfig | None
    request_id: str = ""

    @property
    def task(self) -> SideTask | None:
        """The task of the request; None if the run has no row of its model."""
        config = self.config
        return SideTask(Purpose.TITLE, self.session_id, config, run=self.run) if config else None


async def title_session(run_id: str, database: Database, models: CompletionClient) -> None:
    """Set the session's title from this run's question and answer, unless it has one. Idempotent."""
    untitled = await database.call_with_retry(_load, run_id)
    if untitled is None:
        return
    if task := untitled.task:
        models = RecordingModels(models, task, database)
    with log_context.bound(run=run_id, request_id=untitled.request_id):
        title = await _generate_title(untitled, models) or untitled.provisional_title
    if title:
        await database.call_with_retry(set_title, untitled.session_id, title)


def set_title(session_id: UUID, title: str) -> bool:
    """Store a title and notify the session's tabs. Returns False if the owner has named it or it was deleted."""
    with transaction.atomic():
        is_named = Session.objects.set_title(session_id, title)
        if is_named:
            record_session_changed(Session(pk=session_id))
    return is_named


def _load(run_id: str) -> UntitledSession | None:
    """Load the session and its question and answer; None if it has a title already or is deleted."""
    run = Run.objects.for_work().filter(pk=run_id).first()
    session = run.turn.session if run else None
    if run is None or session is None or not session.is_unnamed:
        return None
    config = run.model_config
    # The demo model writes no titles.
    model = resolve_model(config) if config and not config.is_demo else None
    question = run.turn.user_message.text or names_of_files(run.turn.user_message)
    answer = readable_text(run.message.text, run.message.tool_calls.values_list("turn_number", "text_before"))
    return UntitledSession(
        run.pk,
        session.pk,
        question,
        answer,
        provisional_title=session.title or title_from(run.turn.user_message),
        model=model,
        config=config,
        request_id=run.turn.request_id,
    )


async def _generate_title(untitled: UntitledSession, models: CompletionClient) -> str:
    """Ask the model for a title; empty if it returns none in time."""
    model = untitled.model
    if model is None:
        return ""
    messages = title_messages(untitled.question, untitled.answer)
    request = Request(model.answering_within(MAX_OUTPUT_TOKENS), messages, gives_way=True, limit_s=TIMEOUT_S)
    try:
        completion = await models.complete(request)
    except (ModelFailed, TimeoutError) as error:
        logger.warning(
            "run %s model %s: session %s is named after its question: %s",
            untitled.run,
            model.name,
            untitled.session_id,
            str(error) or "no answer in time",
        )
        return ""
    return "" if completion.finish_reason == "refusal" else title_in(completion.text)


MAX_WORDS = 6
# For languages without spaces between words, and for models that do not stop.
MAX_CHARACTERS = 80
# The topic appears early in a conversation; more would only cost tokens.
QUESTION_CHARACTERS = 2_000
ANSWER_CHARACTERS = 1_000
_JSON = re.compile(r"\{.*\}", re.DOTALL)
_LABEL = re.compile(r"^(?:title|titel|titre|título|titolo)\s*[:\uff1a]\s*", re.IGNORECASE)
# Quotation marks, whitespace and markup around a title. A title may end with # and begin with a full stop.
_AROUND = " \t*_`\"'“”„‟‘’‚«»‹›「」『』《》"  # noqa: RUF001
_BEFORE = _AROUND + "#"
_AFTER = _AROUND + ".。．:"  # noqa: RUF001


def title_messages(question: str, answer: str) -> LanguageModelInput:
    """Build the messages, `S U`: the conversation's beginning as one text, so that the model does not continue it."""
    began = f"Question:\n{question[:QUESTION_CHARACTERS]}\n\nAnswer:\n{answer[:ANSWER_CHARACTERS]}\n\nTitle:"
    return [Message("S", PROMPT), Message("U", began)]


def title_in(reply: str) -> str:
    """Extract the title from a reply: one line, at most MAX_WORDS words; empty if there is none."""
    text = without_reasoning(clean(reply))
    text = _in_json(text) or text
    lines = (line for line in map(_bare, text.splitlines()) if line)
    words = next(lines, "").split()
    return _bare(" ".join(words[:MAX_WORDS])[:MAX_CHARACTERS])


def _in_json(text: str) -> str:
    """Extract the title from a JSON object; empty if there is none."""
    match = _JSON.search(text)
    try:
        read = json.loads(match[0], strict=False) if match else None
    except (ValueError, RecursionError):
        return ""
    titles = (
        [value for name, value in read.items() if name.lower() == "title"] if isinstance(read, dict) else []
    )
    return next((title for title in titles if isinstance(title, str)), "")


def _bare(line: str) -> str:
    return _LABEL.sub("", without_marks(line).lstrip(_BEFORE)).lstrip(_AROUND).rstrip(_AFTER)
