"""Stores what was learned of a model's server with its row, so that no later run learns it again."""

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
        """Best effort: what is not stored is learned again."""
        if model.row is None or traits <= model.dialect:
            return
        try:
            await self._database.call(ModelConfig.learn, model.row, model.source, traits)
        except DatabaseError as error:
            logger.warning("what was learned of %r is not stored: %s", model, error)
