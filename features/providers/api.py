"""The routes of providers, the model servers that staff add without a restart, and what staff see of them.

Keys are accepted and never returned: of a key, only whether there is one is said, not a part of it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.urls import path
from msgspec import UNSET, Meta, UnsetType
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.infrastructure import encryption
from chat.models import ModelConfig, Provider
from chat.models.provider import may_view_providers
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.body import Body, Visible, patched
from chat.protocol.errors import PROVIDER_ERRORS, RUN_ERRORS
from features.providers.providers import (
    MAX_MODELS,
    MAX_NAME_CHARACTERS,
    change_provider,
    create_provider,
    delete_provider,
    request_check,
    save_models,
)
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented

# The same range as for LLM_MODELS.
SMALLEST_WINDOW: Final = 512
LARGEST_WINDOW: Final = 10**8
MAX_KEY_CHARACTERS: Final = 2_000
# The most models that one request changes.
MAX_MODELS_AT_ONCE: Final = 100
_KEY: Final = r"^[!-~]*$"
_PRICE: Final = r"^[0-9]{1,6}(\.[0-9]{1,6})?$"
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


_ModelName = Annotated[Visible, Meta(max_length=MAX_NAME_CHARACTERS)]
_Price = Annotated[
    Annotated[str, Meta(pattern=_PRICE)] | UnsetType | None, doc("Per million tokens; null: unknown.")
]


class ProviderModelBody(Body):
    upstream_name: Annotated[_ModelName, doc("As the server calls it.")]
    name: (
        Annotated[_ModelName, doc("As people see it, once among all models. Left out: chosen.")] | UnsetType
    ) = UNSET
    enabled: bool | UnsetType = UNSET
    context_window: Annotated[int, Meta(ge=SMALLEST_WINDOW, le=LARGEST_WINDOW)] | UnsetType = UNSET
    supports_vision: bool | UnsetType = UNSET
    supports_tools: bool | UnsetType = UNSET
    prompt_price: _Price = UNSET
    cached_price: _Price = UNSET
    completion_price: _Price = UNSET


class ProviderModelsBody(Body):
    models: Annotated[
        list[ProviderModelBody],
        Meta(min_length=1, max_length=MAX_MODELS_AT_ONCE),
        doc(f"A provider has at most {MAX_MODELS}."),
    ]


class ProviderBody(Body):
    name: Annotated[Visible, Meta(max_length=100)]
    base_url: Annotated[Visible, Meta(max_length=500), doc("It usually ends in /v1.")]
    api_key: (
        Annotated[
            str,
            Meta(pattern=_KEY, max_length=MAX_KEY_CHARACTERS, extra_json_schema={"writeOnly": True}),
            doc(
                "Stored encrypted, and never answered. Empty: the server is sent none. Another server than before needs it "
                "again."
            ),
        ]
        | UnsetType
    ) = UNSET
    is_enabled: bool | UnsetType = UNSET


class ProviderCheckBody(Body):
    model: (
        Annotated[
            _ModelName,
            doc("As the server calls it. Left out: one that is enabled is tried, if there is one."),
        ]
        | UnsetType
    ) = UNSET


class ProviderPermission(BasePermission):
    """Staff with the admin's permission for the method."""

    # The permissions that methods need; other methods change an existing provider.
    by_method: ClassVar = {"POST": "chat.add_provider", "DELETE": "chat.delete_provider"}

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002
        user = current_user(request)
        if request.method == "GET":
            return may_view_providers(user)
        needed = self.by_method.get(str(request.method), "chat.change_provider")
        return user.is_staff and user.has_perm(needed)


class ProviderChangePermission(ProviderPermission):
    """The permission to change providers for every method, since the view is about an existing provider."""

    by_method = {}


class ProvidersView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [ProviderPermission]

    @documented("providers_list", answer=ProvidersAnswer)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """List the providers of models. Requires staff with the permission to view or change providers.
        The provider of the environment comes first, if it has models, then the others, oldest first.
        """
        rows = Provider.objects.existing().select_related("created_by").prefetch_related("models")
        results = [*_environment(), *(describe_provider(row) for row in rows)]
        answer = ProvidersAnswer(can_store_keys=encryption.is_available(), results=results)
        return Response(answer.json())

    @documented("providers_create", body=ProviderBody, answer=ProviderAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Add a provider. A check can then list its models. Requires staff with the permission to add providers."""
        provider = create_provider(current_user(request), **self.parse(ProviderBody).members())
        return Response(present_provider(provider), status.HTTP_201_CREATED)


class ProviderView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [ProviderPermission]

    @documented("providers_read", answer=ProviderAnswer)
    def get(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Read a provider, with its models and the outcome of its latest check."""
        return Response(present_provider(_get_provider(provider)))

    @documented("providers_update", body=patched(ProviderBody), answer=ProviderAnswer)
    def patch(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Update a provider; omitted fields stay as they are. Runs that begin from then on use the new values."""
        row = _get_provider(provider)
        change_provider(row, **self.parse(patched(ProviderBody)).members())
        return Response(present_provider(_get_provider(provider)))

    @documented("providers_delete", statuses=(204,))
    def delete(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Delete a provider and its key. Its models are not offered any more; their answers stay."""
        delete_provider(_get_provider(provider))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProviderModelsView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [ProviderChangePermission]

    @documented("providers_models", body=ProviderModelsBody, answer=ProviderAnswer)
    def post(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Add models of the provider or change them; others stay as they are. Users may choose the enabled ones."""
        row = _get_provider(provider)
        save_models(row.pk, [model.members() for model in self.parse(ProviderModelsBody).models])
        return Response(present_provider(_get_provider(provider)))


class ProviderCheckView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [ProviderChangePermission]

    @documented("providers_check", body=ProviderCheckBody, answer=ProviderAnswer, statuses=(202,))
    def post(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Request that a worker lists the provider's models and tries one.
        `latest_check` has the outcome once it is `done`.
        """
        row = _get_provider(provider)
        request_check(row, self.parse(ProviderCheckBody).members().get("model"))
        return Response(present_provider(row), status.HTTP_202_ACCEPTED)


def _get_provider(pk: str) -> Provider:
    rows = Provider.objects.existing().select_related("created_by").prefetch_related("models")
    return get_own_row(rows, pk, "provider")


def _environment() -> list[ProviderAnswer]:
    """Return the provider of the environment; none if it has neither models nor an address."""
    models = list(ModelConfig.objects.filter(provider=None))
    if not (models or settings.LLM_BASE_URL):
        return []
    # An address from the environment may contain a password.
    scheme, _, rest = settings.LLM_BASE_URL.partition("://")
    return [describe_environment(f"{scheme}://{rest.rpartition('@')[2]}" if rest else "", models)]


urlpatterns = [
    path("providers/", ProvidersView.as_view()),
    path("providers/<id:provider>/", ProviderView.as_view()),
    path("providers/<id:provider>/models/", ProviderModelsView.as_view()),
    path("providers/<id:provider>/check/", ProviderCheckView.as_view()),
]
