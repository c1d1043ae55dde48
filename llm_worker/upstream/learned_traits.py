"""Remembers what the servers of models refuse: at once for this process, and by a callback for all. On the event loop."""

import logging
import time
from dataclasses import replace
from typing import Final, Protocol

from llm_worker.request.call_ids import refused_ids
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.request_body import refused_trait, request_body

logger = logging.getLogger(__name__)

# How long requests of a model that was loaded before it was learned use what was; a later run loads it.
KEPT_S: Final = 300.0


class ServerMemory(Protocol):
    """Stores what servers say; dialect_memory.DialectMemory is the one of a worker."""

    async def remember(self, model: Model, traits: frozenset[str]) -> None:
        """Called when the server has accepted a request with these traits."""
        ...

    async def note_redirect(self, model: Model, target: str) -> None:
        """Called when the server sends requests on to another address than the row of the model says; empty: to none."""
        ...


class LearnedTraits:
    def __init__(self, memory: ServerMemory | None = None) -> None:
        self._memory = memory
        self._known: dict[Model, tuple[frozenset[str], float]] = {}

    def apply(self, request: Request) -> Request:
        """The request as the server accepts it, as far as that is known."""
        traits, until = self._known.get(_key(request.model), (frozenset(), 0.0))
        return _with(request, traits) if traits and time.monotonic() < until else request

    def after(self, failure: ModelFailed, request: Request, *, is_streamed: bool) -> Request | None:
        """The request without what the server has refused; None if it refused something else, or again."""
        said = f"{failure.upstream_code} {failure.detail}".lower()
        trait = refused_ids(said, request.messages) or refused_trait(
            failure, request_body(request, is_streamed=is_streamed)
        )
        if not trait or trait in request.model.dialect:
            return None
        logger.warning("%r is asked without what it refuses (%s)", request.model, trait)
        return _with(request, frozenset({trait}))

    async def accepted(self, request: Request, sent: Request) -> None:
        """The server has accepted `sent`, which was made of `request`."""
        learned = sent.model.dialect - request.model.dialect
        known, _ = self._known.get(_key(request.model), (frozenset(), 0.0))
        if learned and not learned <= known:
            self._known[_key(request.model)] = learned | known, time.monotonic() + KEPT_S
            if self._memory:
                await self._memory.remember(request.model, learned)


def _key(model: Model) -> Model:
    """The limit differs between the requests of one model."""
    return replace(model, max_output_tokens=None)


def _with(request: Request, traits: frozenset[str]) -> Request:
    return replace(request, model=replace(request.model, dialect=request.model.dialect | traits))
