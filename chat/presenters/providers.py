"""Providers as staff see them. Of a key, only whether there is one is told: neither the key nor a part of it."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from chat.models import ModelConfig, Provider
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.protocol.provider_errors import PROVIDER_ERRORS
from chat.protocol.wire import RUN_ERRORS


def present_provider(provider: Provider) -> JSONObject:
    """models must be prefetched where several are presented."""
    return {
        "id": str(provider.pk),
        "name": provider.name,
        "base_url": provider.base_url,
        "is_environment": False,
        "is_enabled": provider.is_enabled,
        "has_key": provider.has_key,
        "created_by": provider.created_by.get_username() if provider.created_by else None,
        "created_at": isoformat_utc(provider.created_at),
        "models": [present_provider_model(model) for model in provider.models.all()],
        "latest_check": _present_check(provider.latest_check),
    }


def present_environment(base_url: str, models: Iterable[ModelConfig]) -> JSONObject:
    """The server of LLM_BASE_URL, which is changed where Turnwire is started, and models of the admin's own."""
    return {
        "id": None,
        "name": "LLM_BASE_URL",
        "base_url": base_url,
        "is_environment": True,
        "is_enabled": True,
        "has_key": None,
        "created_by": None,
        "created_at": None,
        "models": [present_provider_model(model) for model in models],
        "latest_check": None,
    }


def present_provider_model(model: ModelConfig) -> JSONObject:
    return {
        "name": model.name,
        "upstream_name": model.name_at_server,
        "enabled": model.enabled,
        "is_default": model.is_default,
        "context_window": model.context_window,
        "supports_vision": model.supports_vision,
        "supports_tools": model.supports_tools,
        "prompt_price": _price(model.prompt_price),
        "cached_price": _price(model.cached_price),
        "completion_price": _price(model.completion_price),
    }


def _price(price: Decimal | None) -> str | None:
    return None if price is None else f"{price.normalize():f}"


def _present_check(check: Mapping[str, Any] | None) -> JSONObject | None:
    if check is None:
        return None
    return {
        "status": check["status"],
        "requested_at": check["requested_at"],
        "finished_at": check.get("finished_at"),
        "error": _present_error(check.get("error")),
        "models": check.get("models", []),
        "model": check["model"] or None,
        "test_error": _present_error(check.get("test_error")),
        "latency_ms": check.get("latency_ms"),
    }


def _present_error(error: Mapping[str, str] | None) -> JSONObject | None:
    if error is None:
        return None
    message = PROVIDER_ERRORS.get(error["code"]) or RUN_ERRORS[error["code"]][0]
    return {**error, "message": message}
