"""What is learned about a model's server, stored with the model: its dialect, and how it counts tokens.

The factor of tokens is rarely written: one that rests on many requests and hardly moves costs a run nothing.
"""

import logging
from dataclasses import dataclass

from django.db import DatabaseError
from msgspec.json import encode

from chat.models import ModelConfig
from chat.transcript.tokens import Measured, installed_encodings, is_worth_a_write, ratio_of
from chat.transcript.usage import TokenUsage
from llm_worker.database import Database
from llm_worker.request.model_message import total_tokens
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.upstream.model_request import Model, Request

logger = logging.getLogger(__name__)


class DialectMemory:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, model: Model, traits: frozenset[str]) -> None:
        """Store traits of a model's server. Best effort: traits that could not be stored are learned again."""
        if model.row is None or traits <= model.dialect:
            return
        try:
            await self._database.call(ModelConfig.learn, model.row, model.source, traits)
        except DatabaseError as error:
            logger.warning("what was learned of %r is not stored: %s", model, error)

    async def forget(self, model: Model, trait: str) -> None:
        """Remove a trait that the model's server no longer has. Best effort, as remember()."""
        if model.row is None or trait not in model.dialect:
            return
        try:
            await self._database.call(ModelConfig.forget, model.row, model.source, trait)
        except DatabaseError as error:
            logger.warning("%r is still said to have %s: %s", model, trait, error)

    async def note_redirect(self, model: Model, target: str) -> None:
        """Store where a server redirects to. Best effort, as remember(). target: empty if the server answers itself."""
        if model.row is None:
            return
        try:
            await self._database.call(ModelConfig.note_redirect, model.row, model.source, target)
        except DatabaseError as error:
            logger.warning("where %r redirects to is not stored: %s", model, error)


@dataclass(frozen=True, slots=True)
class ReportedRequest:
    """An answered request: its tokens by our estimate, and as the server reported them."""

    estimated: int
    reported: int | None

    @classmethod
    def compare(cls, request: Request, usage: TokenUsage) -> "ReportedRequest | None":
        """Compare the counts of a request; None if the count of the server says nothing.

        Each server counts pictures in its own way, and none counts prefilled text.
        """
        messages = request.sent_messages
        is_prefilled = messages[-1].role == "assistant"
        if is_prefilled or any(message.images for message in messages):
            return None
        schemas = encode(list(request.tools)).decode() if request.tools else ""
        return cls(total_tokens(messages) + estimate_tokens(schemas, 0), usage.prompt_tokens)


class TokenCalibration:
    """Collects the measurements of the runs of a process until they are worth a write. Used on the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[int, Measured] = {}

    async def take(self, config: ModelConfig, requests: list[ReportedRequest]) -> None:
        """Add the requests of a run. config: as that run has read it.

        Best effort: a failed write loses the collected measurements.
        """
        if config.is_demo or config.tokenizer in installed_encodings():
            return
        current = config.measured_factor
        found = (ratio_of(request.estimated, request.reported, current) for request in requests)
        ratios = [ratio for ratio in found if ratio is not None]
        if not ratios:
            return
        before = self._waiting.pop(config.pk, Measured(0.0, 0))
        samples = before.samples + len(ratios)
        measured = Measured((before.mean * before.samples + sum(ratios)) / samples, samples)
        if not is_worth_a_write(measured, current):
            self._waiting[config.pk] = measured
            return
        try:
            await self._database.call(config.calibrate, measured)
        except DatabaseError as error:
            logger.warning("the token factor of %s is not stored: %s", config.name, error)
