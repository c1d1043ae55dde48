"""Checks a provider for staff: lists its models, and has one of them answer with one token. Stores the result.

The web process reaches no model server, so a worker makes the check and the page reads the row of the provider.
"""

import asyncio
import logging
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret
from chat.models import Provider
from chat.models.model_server_rules import provider_address_problem
from llm_worker.database import Database
from llm_worker.request.model_message import Message
from llm_worker.upstream.chat_completion import CompletionClient
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_list import ListFailed, list_models
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.redirects import REDIRECTS_TO

logger = logging.getLogger(__name__)

# Local servers load a model before it answers for the first time.
ANSWER_S: Final = 120.0
QUESTION: Final = "Hi"
# Models that reason first may refuse so short an answer, which shows that the model is available.
TOO_SHORT: Final = "output limit was reached"

Result = dict[str, Any]


async def check_provider(
    provider_id: str, check_id: str, database: Database, models: CompletionClient
) -> None:
    """Check a provider and store the result, unless another check was requested meanwhile."""
    check = await database.call_with_retry(load_check, provider_id, check_id)
    if check is None:
        return
    provider, result = check
    try:
        model = _server_of(provider)
        result |= await _list(model)
        if result["model"]:
            result |= await _test(replace(model, name=result["model"]), models)
    except ListFailed as failure:
        result |= _failure(failure.code, failure.detail)
    result |= {"status": "done", "finished_at": datetime.now(UTC).isoformat()}
    logger.info("provider %s was checked: %s", provider_id, result["error"] or "it answers")
    await database.call_with_retry(Provider.objects.record_check, provider_id, result)


def load_check(provider_id: str, check_id: str) -> tuple[Provider, Result] | None:
    """Load provider and check, in a database thread. None: it is gone, or another check was requested since."""
    provider = Provider.objects.existing().filter(pk=provider_id, latest_check__id=check_id).first()
    if provider is None or provider.latest_check is None:
        return None
    nothing: Result = {"error": None, "test_error": None, "latency_ms": None, "models": []}
    return provider, {**provider.latest_check, **nothing}


def _server_of(provider: Provider) -> Model:
    """Return address and key, even of a disabled provider: staff check it before enabling it. Raises ListFailed."""
    if problem := provider_address_problem(provider.base_url):
        raise ListFailed("address_refused", problem)
    try:
        return Model("", provider.base_url, provider.api_key, is_guarded=True)
    except EncryptionUnavailable:
        raise ListFailed("encryption_unavailable") from None
    except UnreadableSecret:
        raise ListFailed("key_unreadable") from None


async def _list(model: Model) -> Result:
    """List the models, or return why that failed: models of such a server can still be entered and tried."""
    try:
        return {"models": [one._asdict() for one in await list_models(model)]}
    except ListFailed as failure:
        return _failure(failure.code, failure.detail)


async def _test(model: Model, models: CompletionClient) -> Result:
    request = Request(model.answering_within(1), [Message("U", QUESTION)], retries_timeouts=False)
    began = time.monotonic()
    try:
        async with asyncio.timeout(ANSWER_S):
            await models.complete(request)
    except TimeoutError:
        return {"test_error": {"code": "upstream_timeout", "detail": ""}}
    except ModelFailed as failure:
        if failure.status is not None and 300 <= failure.status < 400:
            target = failure.detail.removeprefix(REDIRECTS_TO)
            return {"test_error": {"code": "redirected", "detail": target}}
        if TOO_SHORT not in failure.detail:
            return {"test_error": {"code": failure.code, "detail": failure.detail}}
    return {"latency_ms": round((time.monotonic() - began) * 1000)}


def _failure(code: str, detail: str) -> Result:
    return {"error": {"code": code, "detail": detail}}
