"""Remembers what model servers refuse: at once for this process, and by a callback for all. On the event loop."""

import logging
import time
from dataclasses import replace
from typing import Final, Protocol

from llm_worker.request.call_ids import refused_ids
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.refused_messages import refused_form
from llm_worker.upstream.request_body import refused_trait, request_body
from llm_worker.upstream.unstored_traits import UNSTORED

logger = logging.getLogger(__name__)

# How long learned traits are applied to requests whose model was loaded before; later runs load them with the model.
KEPT_S: Final = 300.0
# How long the traits hold that no row stores. A server that needs one no longer is asked as usual again after a day.
KEPT_UNSTORED_S: Final = 24 * 3600.0


class ServerMemory(Protocol):
    """Stores what servers say; a worker uses dialect_memory.DialectMemory."""

    async def remember(self, model: Model, traits: frozenset[str]) -> None:
        """Store the traits. Called when the server has accepted a request with them."""
        ...

    async def note_redirect(self, model: Model, target: str) -> None:
        """Store the address that the server redirects requests to; empty if it does not redirect.
        Called when the row of the model says otherwise.
        """
        ...


class LearnedTraits:
    def __init__(self, memory: ServerMemory | None = None) -> None:
        self._memory = memory
        # Trait -> when it is forgotten, on the monotonic clock.
        self._known: dict[Model, dict[str, float]] = {}

    def apply(self, request: Request) -> Request:
        """Return the request as the server accepts it, as far as that is known."""
        traits = self._traits_of(request.model)
        return _with(request, traits) if traits else request

    def after(self, failure: ModelFailed, request: Request, *, is_streamed: bool) -> Request | None:
        """Return the request without what the server has refused; None if it refused something else, or again."""
        said = f"{failure.upstream_code} {failure.detail}".lower()
        trait = (
            refused_ids(said, request.messages)
            or refused_trait(failure, request_body(request, is_streamed=is_streamed))
            or refused_form(failure, request)
        )
        if not trait or trait in request.model.dialect:
            return None
        logger.warning("%r is asked without what it refuses (%s)", request.model, trait)
        return _with(request, frozenset({trait}))

    async def accepted(self, request: Request, sent: Request) -> None:
        """Remember the traits that `sent` has beyond `request`, of which it was made: the server has accepted it."""
        learned = sent.model.dialect - request.model.dialect
        if not learned or learned <= self._traits_of(request.model):
            return
        now = time.monotonic()
        until = {trait: now + (KEPT_UNSTORED_S if trait in UNSTORED else KEPT_S) for trait in learned}
        self._known[_key(request.model)] = self._known.get(_key(request.model), {}) | until
        if self._memory and learned - UNSTORED:
            await self._memory.remember(request.model, learned - UNSTORED)

    def _traits_of(self, model: Model) -> frozenset[str]:
        """Return the traits that this process has learned of the model's server and not forgotten yet."""
        known = self._known.get(_key(model))
        now = time.monotonic() if known else 0.0
        return frozenset(trait for trait, until in known.items() if now < until) if known else frozenset()


def _key(model: Model) -> Model:
    """Return the model without what differs between its requests: the output limit, and the traits of its row."""
    return replace(model, max_output_tokens=None, dialect=frozenset())


def _with(request: Request, traits: frozenset[str]) -> Request:
    return replace(request, model=replace(request.model, dialect=request.model.dialect | traits))
