"""Providers as staff see them. Of a key, only whether there is one is told: neither the key nor a part of it."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

from chat.models import ModelConfig, Provider
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, choice, doc
from chat.protocol.provider_errors import PROVIDER_ERRORS
from chat.protocol.run_errors import RUN_ERRORS

_CODES: Final = ", ".join(f"`{code}`" for code in PROVIDER_ERRORS)


class ProviderModelAnswer(Answer):
    name: str
    upstream_name: str
    enabled: bool
    is_default: bool
    context_window: int
    supports_vision: bool
    supports_tools: bool
    prompt_price: str | None
    cached_price: str | None
    completion_price: str | None


class CheckErrorAnswer(Answer):
    code: Annotated[str, doc(f"{_CODES}, or one of a run's.")]
    message: str
    detail: Annotated[str, doc("What the server said, redacted; may be empty.")]


class ListedModelAnswer(Answer):
    id: str
    context_window: int | None
    prompt_price: str | None
    completion_price: str | None


class ProviderCheckAnswer(Answer):
    status: Annotated[str, choice(["queued", "done"])]
    requested_at: Moment
    finished_at: Moment | None
    error: Annotated[CheckErrorAnswer | None, doc("Why there is no list of models.")]
    models: list[ListedModelAnswer]
    model: Annotated[str | None, doc("The one that is tried.")]
    test_error: Annotated[CheckErrorAnswer | None, doc("Why it did not answer.")]
    latency_ms: Annotated[int | None, doc("Until it had answered with a token.")]


class ProviderAnswer(Answer):
    id: Annotated[UUID | None, doc("Null: the server of LLM_BASE_URL.")]
    name: str
    base_url: str
    is_environment: Annotated[bool, doc("Set where Turnwire is started; cannot be changed.")]
    is_enabled: bool
    has_key: Annotated[bool | None, doc("Null: web does not know.")]
    created_by: str | None
    created_at: Moment | None
    models: list[ProviderModelAnswer]
    latest_check: ProviderCheckAnswer | None


class ProvidersAnswer(Answer):
    can_store_keys: Annotated[bool, doc("Whether SECRETS_KEYS is set.")]
    results: list[ProviderAnswer]


def present_provider(provider: Provider) -> JSONObject:
    return describe_provider(provider).json()


def describe_provider(provider: Provider) -> ProviderAnswer:
    """Describe a provider, whose models must be prefetched where several providers are described."""
    return ProviderAnswer.from_row(
        provider,
        is_environment=False,
        created_by=provider.created_by.get_username() if provider.created_by else None,
        models=[describe_provider_model(model) for model in provider.models.all()],
        latest_check=_describe_check(provider.latest_check),
    )


def describe_environment(base_url: str, models: Iterable[ModelConfig]) -> ProviderAnswer:
    """Describe the server of LLM_BASE_URL, which is set where Turnwire is started, and models without a provider."""
    return ProviderAnswer(
        id=None,
        name="LLM_BASE_URL",
        base_url=base_url,
        is_environment=True,
        is_enabled=True,
        has_key=None,
        created_by=None,
        created_at=None,
        models=[describe_provider_model(model) for model in models],
        latest_check=None,
    )


def describe_provider_model(model: ModelConfig) -> ProviderModelAnswer:
    return ProviderModelAnswer.from_row(
        model,
        upstream_name=model.name_at_server,
        prompt_price=_price(model.prompt_price),
        cached_price=_price(model.cached_price),
        completion_price=_price(model.completion_price),
    )


def _price(price: Decimal | None) -> str | None:
    return None if price is None else f"{price.normalize():f}"


def _describe_check(check: Mapping[str, Any] | None) -> ProviderCheckAnswer | None:
    if check is None:
        return None
    return ProviderCheckAnswer(
        status=check["status"],
        requested_at=check["requested_at"],
        finished_at=check.get("finished_at"),
        error=_describe_error(check.get("error")),
        models=check.get("models", []),
        model=check["model"] or None,
        test_error=_describe_error(check.get("test_error")),
        latency_ms=check.get("latency_ms"),
    )


def _describe_error(error: Mapping[str, str] | None) -> CheckErrorAnswer | None:
    if error is None:
        return None
    message = PROVIDER_ERRORS.get(error["code"]) or RUN_ERRORS[error["code"]][0]
    return CheckErrorAnswer(**error, message=message)
