"""Stores what was learned about a model's server in the model's row: for later runs, and for staff."""

import logging

from django.db import DatabaseError

from chat.models import ModelConfig
from llm_worker.database import Database
from llm_worker.upstream.model_request import Model

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
