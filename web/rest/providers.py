"""Views of providers, the model servers that staff add without a restart. Keys are accepted and never returned."""

from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.infrastructure import encryption
from chat.models import ModelConfig, Provider
from chat.presenters.providers import (
    ProviderAnswer,
    ProvidersAnswer,
    describe_environment,
    describe_provider,
    present_provider,
)
from chat.protocol.body import patched
from chat.runs.providers.changes import change_provider, create_provider, delete_provider
from chat.runs.providers.offered_models import save_models
from chat.runs.providers.provider_checks import request_check
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.provider_bodies import (
    ProviderBody,
    ProviderCheckBody,
    ProviderModelsBody,
)

VIEWING: Final = ("chat.view_provider", "chat.change_provider")
_BY_METHOD: Final = {"POST": "chat.add_provider", "DELETE": "chat.delete_provider"}


def may_view_providers(user: User | AnonymousUser) -> bool:
    return user.is_staff and any(user.has_perm(permission) for permission in VIEWING)


class ProviderPermission(BasePermission):
    """Staff with the admin's permission for the method."""

    # The permissions that methods need; other methods change an existing provider.
    by_method = _BY_METHOD

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
        found = [*_environment(), *(describe_provider(row) for row in rows)]
        answer = ProvidersAnswer(can_store_keys=encryption.is_available(), results=found)
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
        found = _get_provider(provider)
        change_provider(found, **self.parse(patched(ProviderBody)).members())
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
        found = _get_provider(provider)
        save_models(found.pk, [model.members() for model in self.parse(ProviderModelsBody).models])
        return Response(present_provider(_get_provider(provider)))


class ProviderCheckView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [ProviderChangePermission]

    @documented("providers_check", body=ProviderCheckBody, answer=ProviderAnswer, statuses=(202,))
    def post(self, request: Request, provider: str) -> Response:  # noqa: ARG002
        """Request that a worker lists the provider's models and tries one.
        `latest_check` has the outcome once it is `done`.
        """
        found = _get_provider(provider)
        request_check(found, self.parse(ProviderCheckBody).members().get("model"))
        return Response(present_provider(found), status.HTTP_202_ACCEPTED)


def _get_provider(pk: str) -> Provider:
    rows = Provider.objects.existing().select_related("created_by").prefetch_related("models")
    return get_own_row(rows, pk, "provider")


def _environment() -> list[ProviderAnswer]:
    models = list(ModelConfig.objects.filter(provider=None))
    shown = models or settings.LLM_BASE_URL
    # An address from the environment may contain a password.
    scheme, _, rest = settings.LLM_BASE_URL.partition("://")
    return (
        [describe_environment(f"{scheme}://{rest.rpartition('@')[2]}" if rest else "", models)]
        if shown
        else []
    )
