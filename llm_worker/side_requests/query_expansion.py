"""Rewrites the queries of a search by a small request to the run's model (QUERY_EXPANSION), beside its answer.

If the request fails, the search goes on with the given queries.
"""

import asyncio
import json
import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.conf import settings

from chat.models import Run
from chat.models.model_requests import Purpose
from llm_worker.database import Database
from llm_worker.prompts import prompt
from llm_worker.request.model_message import Message
from llm_worker.side_requests.recording import RecordingModels, SideTask
from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning
from llm_worker.upstream.chat_completion import CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.model_request import Model, Request

logger = logging.getLogger(__name__)

# Besides the given queries: each costs a search, and too many displace the best results.
MAX_REWRITES: Final = 3
MAX_QUERY_CHARACTERS: Final = 400
# The rest is for models that reason first.
MAX_OUTPUT_TOKENS: Final = 512
# All retries together; the search waits for it.
TIMEOUT_S: Final = 15.0

_JSON_START: Final = re.compile(r"[{\[]")


class QueryExpansion:
    """The QueryRewriter of a run."""

    def __init__(self, run: Run, models: CompletionClient, database: Database) -> None:
        self._run, self._models, self._database = run, models, database

    async def __call__(self, queries: Sequence[str]) -> list[str]:
        """Return the rewrites, without the given queries; empty if there are none, or the setting is off."""
        config = self._run.model_config
        # The demo model writes no JSON.
        if not settings.QUERY_EXPANSION or config is None or config.is_demo:
            return []
        model = await self._database.call(resolve_model, config)
        if model is None:
            return []
        task = SideTask(
            Purpose.EXPANSION, self._run.turn.session_id, config, run=self._run.pk, attempt=self._run.attempt
        )
        models = RecordingModels(self._models, task, self._database)
        try:
            async with asyncio.timeout(min(TIMEOUT_S, settings.TOOL_TIMEOUT_S / 2)):
                reply = await models.complete(expansion_request(model, queries))
        except (ModelFailed, TimeoutError) as error:
            logger.warning(
                "run %s: its queries are not rewritten: %s", self._run.pk, str(error) or "no answer in time"
            )
            return []
        rewrites = rewrites_in(reply.text, queries)
        if not rewrites:
            logger.warning("run %s: its queries are not rewritten: the reply holds none", self._run.pk)
        return rewrites


def expansion_request(model: Model, queries: Sequence[str]) -> Request:
    asked = json.dumps({"queries": list(queries)}, ensure_ascii=False)
    return Request(
        model.answering_within(MAX_OUTPUT_TOKENS),
        [Message("S", prompt("expand")), Message("U", asked)],
        gives_way=True,
    )


def rewrites_in(reply: str, given: Iterable[str]) -> list[str]:
    """Extract new queries from `{"queries": […]}` or a bare array, whatever text surrounds it. Ignores `given`."""
    known = {query.casefold() for query in given}
    rewrites: list[str] = []
    for query in _queries(_first_json(without_reasoning(clean(reply)))):
        text = " ".join(clean(query).split())[:MAX_QUERY_CHARACTERS].strip()
        if text and text.casefold() not in known:
            known.add(text.casefold())
            rewrites.append(text)
    return rewrites[:MAX_REWRITES]


def _queries(value: Any) -> list[str]:
    listed = value.get("queries") if isinstance(value, dict) else value
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _first_json(text: str) -> Any:
    for start in _JSON_START.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start.start())
        except ValueError:
            continue
        except RecursionError:
            # No list of queries nests so deep, and trying each bracket would block the worker for seconds.
            return None
        return value
    return None
