"""Safe summaries of documents, which the model of a restricted run reads instead of passages (decision 0115).

A secondary model reads excerpts and answers with an artifact, which is checked for echoes. Neither the excerpts nor the
reply of the secondary model leave this file unchecked: not in an error, and not in a log.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final, NamedTuple

from django.conf import settings

from chat.infrastructure import log_context
from chat.models import ModelConfig, Run
from chat.models.model_requests import Purpose
from llm_worker.database import Database
from llm_worker.prompts import prompt
from llm_worker.request.context import request_budget
from llm_worker.request.model_message import Message
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.side_requests.artifact import (
    Artifact,
    Excerpt,
    Failure,
    UnusableReply,
    no_hits,
    parse_artifact,
    refusal,
    select_excerpts,
)
from llm_worker.side_requests.echoes import EchoCheck
from llm_worker.side_requests.recording import RecordingModels, SideTask
from llm_worker.upstream.chat_completion import CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.failures import TIMEOUT
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.redaction import describe

logger = logging.getLogger(__name__)
# How restricted runs use documents is logged whatever the worker's log level.
logger.setLevel(logging.INFO)

TEMPERATURE: Final = 0.1
# An artifact has some hundred tokens; the rest is for models that reason first.
MAX_OUTPUT_TOKENS: Final = 4_096
MAX_PREVIEW_CHARACTERS: Final = 80


class Found(NamedTuple):
    """The material of a summary. bases: id and name of the searched bases.  excerpts: best first."""

    bases: Sequence[tuple[str, str]] = ()
    excerpts: Sequence[Excerpt] = ()


# Called with the tokens that a request to the secondary model leaves free.
Retrieve = Callable[[int], Awaitable[Found]]


@dataclass(frozen=True)
class SecondaryModel:
    """The model that writes safe summaries. config: its row.  model: its address and limits."""

    config: ModelConfig
    model: Model

    @property
    def free_tokens(self) -> int:
        config = self.config
        budget = request_budget(config.context_window, config.answer_reserve, factor=config.estimate_factor)
        return max(0, budget.tokens - estimate_tokens(prompt("safe_summary"), 0))


class SafeSummaries:
    """The safe summaries of one attempt at a run."""

    def __init__(self, run: Run, models: CompletionClient, database: Database) -> None:
        self._run, self._models, self._database = run, models, database
        self._recording: dict[str, RecordingModels] = {}

    async def summarise(self, query: str, retrieve: Retrieve) -> Artifact:
        """Return the artifact for a query. Never fails: after any failure, the turn goes on with a refusal."""
        try:
            secondary = await self._database.call_with_retry(load_secondary, self._run)
            found = await self._retrieve(secondary, retrieve)
            excerpts = select_excerpts(found.excerpts)
            log_safe_summary("safe_summary_started", chunks=len(excerpts))
            artifact = await self._ask(secondary, query, found._replace(excerpts=excerpts))
            reason = artifact.reason
        except UnusableReply as unusable:
            artifact, reason = refusal(unusable.failure), unusable.failure.value
        except Exception as error:  # noqa: BLE001  its text may quote documents
            logger.error("no safe summary: %s", type(error).__name__)  # noqa: TRY400  likewise
            artifact, reason = refusal(Failure.MODEL_ERROR), Failure.MODEL_ERROR.value
        preview = artifact.summary[:MAX_PREVIEW_CHARACTERS]
        log_safe_summary("safe_summary_completed", decision=artifact.decision, reason=reason, preview=preview)
        return artifact

    async def _retrieve(self, secondary: SecondaryModel | None, retrieve: Retrieve) -> Found:
        try:
            return await retrieve(secondary.free_tokens if secondary else 0)
        except Exception as error:  # noqa: BLE001  its text may quote the query
            logger.error("no search for a safe summary: %s", type(error).__name__)  # noqa: TRY400  likewise
            raise UnusableReply(Failure.SEARCH_FAILED) from None

    async def _ask(self, secondary: SecondaryModel | None, query: str, found: Found) -> Artifact:
        if not found.excerpts:
            return no_hits()
        if secondary is None:
            raise UnusableReply(Failure.NO_MODEL)
        reply = await self._complete(secondary, build_request(secondary.model, query, found))
        artifact = parse_artifact(reply)
        # Echoes of the query are refused whether or not documents contain them: else a refusal would confirm a guess.
        for texts in ([excerpt.text for excerpt in found.excerpts], [query]):
            if EchoCheck(texts).finds(artifact.texts):
                raise UnusableReply(Failure.REPEATS_DOCUMENTS)
        return artifact

    async def _complete(self, secondary: SecondaryModel, request: Request) -> str:
        try:
            async with asyncio.timeout(settings.SAFE_SUMMARY_TIMEOUT_S):
                return (await self._recorded(secondary).complete(request)).text
        except TimeoutError:
            raise UnusableReply(Failure.TIMEOUT) from None
        except ModelFailed as failure:
            is_timeout = failure.code == TIMEOUT
            raise UnusableReply(Failure.TIMEOUT if is_timeout else Failure.MODEL_ERROR) from None

    def _recorded(self, secondary: SecondaryModel) -> RecordingModels:
        """Return the recorder of a model, the same for the whole attempt: it numbers the requests."""
        run, config = self._run, secondary.config
        task = SideTask(Purpose.SAFE_SUMMARY, run.turn.session_id, config, run=run.pk, attempt=run.attempt)
        if config.name not in self._recording:
            self._recording[config.name] = RecordingModels(self._models, task, self._database)
        return self._recording[config.name]


def load_secondary(run: Run) -> SecondaryModel | None:
    """Load SAFE_SUMMARY_MODEL, or the run's model; None if it cannot be asked. Reads the database."""
    name = settings.SAFE_SUMMARY_MODEL
    config = ModelConfig.objects.usable().filter(name=name).first() if name else run.model_config
    if config is None or config.is_demo:  # the demo model writes no artifacts
        return None
    try:
        model = resolve_model(config)
    except ModelFailed:
        return None
    return SecondaryModel(config, model) if model else None


def build_request(model: Model, query: str, found: Found) -> Request:
    """Build the request: the rules, and one message with the query, the bases and the excerpts.

    Logs and the admin show none of these texts. The excerpts are named by letters: a number could be taken for one of
    their own.
    """
    rules = Message("S", prompt("safe_summary"))
    bases = [{"id": pk, "name": name} for pk, name in found.bases]
    named = zip(ascii_uppercase, found.excerpts, strict=False)
    chunks = [{"chunk": letter, "text": excerpt.text} for letter, excerpt in named]
    hidden = [{"id": excerpt.id, **describe(excerpt.text)} for excerpt in found.excerpts]
    return Request(
        model.answering_within(MAX_OUTPUT_TOKENS),
        [rules, _json_message({"query": query, "knowledge_bases": bases, "chunks": chunks})],
        options={"temperature": TEMPERATURE},
        shown=[
            rules,
            _json_message(
                {"query": describe(query), "knowledge_bases": [pk for pk, _ in found.bases], "chunks": hidden}
            ),
        ],
        retries_timeouts=False,
    )


def _json_message(content: Mapping[str, Any]) -> Message:
    return Message("U", json.dumps(content, ensure_ascii=False))


def log_safe_summary(event: str, **fields: object) -> None:
    """Log one JSON object: the event, the ids of the run, and the fields; never the contents of documents."""
    logger.info({"event": event, **log_context.current(), **fields})
