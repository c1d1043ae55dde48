"""allauth's adapters: the provider from the settings, our rules of admission, and our pages instead of allauth's."""

import time
from typing import Any, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base.constants import AuthError
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from requests import RequestException

from features.accounts.oidc_admission import admit
from features.accounts.oidc_provider import Provider
from features.accounts.oidc_refusals import LoginRefused, refuse
from features.accounts.reauthentication import CONFIRMED_AT


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    def get_login_stages(self) -> list[str]:
        return ["features.accounts.second_factor_pages.CodeStage"]

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        request.session[CONFIRMED_AT] = time.time()
        answer: HttpResponse = super().post_login(request, user, **kwargs)
        return answer

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Drop allauth's messages. Pages show notices of their own, and the admin would display these."""


class SocialAccounts(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def list_apps(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        """Return the app from the settings, if any. No database row may configure a way into accounts."""
        if not settings.OIDC_ISSUER:
            return []
        app = SocialApp(
            provider=Provider.id,
            provider_id=settings.OIDC_ISSUER,
            name=settings.OIDC_NAME,
            client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings={"oauth_pkce_enabled": True, "scope": ["openid", *settings.OIDC_SCOPES]},
        )
        return [app]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Provider:
        return Provider(request, app=self.get_app(request, provider, client_id))

    def get_requests_session(self) -> Any:
        """Release the database connection first, since the provider may take seconds to respond."""
        if not connection.in_atomic_block:
            connection.close()
        return super().get_requests_session()

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Decide on the login. If it must not go on, raise ImmediateHttpResponse with our response."""
        try:
            answer = admit(request, sociallogin)
        except LoginRefused as refused:
            answer = refuse(request, refused.reason)
        if answer is not None:
            raise ImmediateHttpResponse(answer)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,  # noqa: ARG002
        error: Any = None,
        exception: BaseException | None = None,
        extra_context: Any = None,
    ) -> NoReturn:
        raise ImmediateHttpResponse(_failure(request, error, exception, extra_context or {}))


def _failure(request: HttpRequest, error: Any, exception: Any, context: dict[str, Any]) -> HttpResponse:
    if isinstance(exception, RequestException):
        return refuse(request, "unreachable", exception)
    if exception is not None:
        return refuse(request, "failed", exception)
    if error == AuthError.CANCELLED:
        return refuse(request, "denied")
    if "state" not in context:
        return refuse(request, "expired")
    said = request.GET.get("error", "")
    return refuse(request, "unreachable" if said == "temporarily_unavailable" else "failed", said)
