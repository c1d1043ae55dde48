"""Reads what model servers refuse, and remembers it: at once for this process, and by a callback for all. On the event loop."""

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from chat.transcript import dialect
from llm_worker.request.alternation import alternate_roles
from llm_worker.request.call_ids import refused_ids
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failures import is_refusal
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.request_body import (
    refused_of_caller,
    refused_tools,
    refused_trait,
    request_body,
    sent_tools,
)

logger = logging.getLogger(__name__)

# How long learned traits are applied to requests whose model was loaded before; later runs load them with the model.
KEPT_S: Final = 300.0


class ServerMemory(Protocol):
    """Stores what servers say; a worker uses llm_worker/records/server_traits.py."""

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
        self._known: dict[Model, tuple[frozenset[str], float]] = {}

    def apply(self, request: Request) -> Request:
        """Return the request as the server accepts it, as far as that is known."""
        traits = self._known_of(request.model)
        return _with(request, traits) if traits else request

    def after(self, failure: ModelFailed, request: Request, *, is_streamed: bool) -> Request | None:
        """Return the request without what the server has refused; None if it refused something else, or again."""
        body, known = request_body(request, is_streamed=is_streamed), request.model.dialect
        trait = (
            refused_ids(failure.searched, request.messages)
            or refused_trait(failure, body)
            or refused_form(failure, request)
        )
        refused = frozenset({trait} if trait else ()) - known
        # A tool that the user asks for, or the caller brings, is refused by name, in the answers that users read.
        if not refused and request.tool_choice != "required":
            tools = refused_tools(failure, body.get("tools", ()), known) - known
            refused = frozenset() if refused_of_caller(tools, request.callers) else tools
        if not refused:
            return None
        logger.warning("%r is asked without what it refuses (%s)", request.model, ", ".join(sorted(refused)))
        return _with(request, refused)

    async def accepted(self, request: Request, sent: Request) -> None:
        """Remember the traits that `sent` has beyond `request`, of which it was made: the server has accepted it."""
        learned = sent.model.dialect - request.model.dialect
        known = self._known_of(request.model)
        if learned and not learned <= known:
            self._known[_key(request.model)] = learned | known, time.monotonic() + KEPT_S
            if self._memory:
                await self._memory.remember(request.model, learned)

    def _known_of(self, model: Model) -> frozenset[str]:
        """Return the traits that were learned lately: staff may have removed older ones from the row of the model."""
        traits, until = self._known.get(_key(model), (frozenset(), 0.0))
        return traits if time.monotonic() < until else frozenset()


def _key(model: Model) -> Model:
    """Return the model without its output limit, which differs between the requests of one model."""
    return replace(model, max_output_tokens=None)


def _with(request: Request, traits: frozenset[str]) -> Request:
    return replace(request, model=replace(request.model, dialect=request.model.dialect | traits))


_SYSTEM_ROLE: Final = re.compile(
    r"(?:system|developer)\W.{0,60}(?:not support|unsupported|not allowed|not enabled|not permitted)"
    r"|(?:not support|unsupported).{0,60}\W(?:system|developer)\b"
)
# Templates of Gemma, Llama and Mistral; Mistral's API and NIM.
_ORDER_OF_ROLES: Final = re.compile(
    r"roles must alternate|unexpected role '\w+' after role|expected last role"
)
# DeepSeek; Kimi and gateways.
_MISSES_REASONING: Final = re.compile(
    r"reasoning_content.{0,80}(?:passed back|missing)|missing.{0,5}reasoning_content"
)


def refused_form(failure: ModelFailed, request: Request) -> str:
    """Return the trait of a server that refuses the form of these messages; empty if the failure names none."""
    if not is_refusal(failure.code, failure.status):
        return ""
    answer = failure.searched
    if _ORDER_OF_ROLES.search(answer) and alternate_roles(request.messages) != list(request.messages):
        return dialect.ALTERNATING_ROLES
    roles = {message.role for message in request.messages}
    if "assistant" in roles and _MISSES_REASONING.search(answer):
        return dialect.REASONING_CONTENT
    return dialect.NO_SYSTEM_ROLE if "system" in roles and _SYSTEM_ROLE.search(answer) else ""


# Names of options at servers, besides our own names.
_CALLED: Final[Mapping[str, tuple[str, ...]]] = {
    "max_output_tokens": ("max_tokens", "max_completion_tokens"),
    "response_format": ("json_schema", "json_object", "guided_json"),
    "reasoning_effort": (r"reasoning\.effort", "thinking"),
}
_REFUSALS: Final = frozenset({400, 422, None})


def name_refused_option(failure: ModelFailed, request: Request) -> ModelFailed:
    """Return the failure; if it is a rejection that names an option of the request, with that as its reason."""
    if failure.code != "upstream_rejected" or failure.status not in _REFUSALS:
        return failure
    answer = failure.searched
    for name in request.options:
        names = "|".join((name, *_CALLED.get(name, ())))
        if re.search(rf"(?<![a-z_])(?:{names})(?![a-z_])", answer):
            return replace(failure, code="upstream_option_rejected", option=name)
    tools = refused_tools(failure, sent_tools(request), ())
    if name := refused_of_caller(tools, request.callers):
        return replace(failure, code="upstream_option_rejected", option=name)
    return failure
