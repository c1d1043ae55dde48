"""The OpenID Connect provider for allauth, and allauth's adapters.
They cover discovery, the request with PKCE, state and nonce, the checks of the response, our rules of admission, and our
pages instead of allauth's.
"""

import secrets
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language
from requests import RequestException

from features.accounts.oidc_admission import LoginRefused, admit, refuse
from features.accounts.oidc_identity import Identity, InvalidToken, read_id_token, read_identity
from features.accounts.reauthentication import CONFIRMED_AT

DISCOVERY: Final = "/.well-known/openid-configuration"
NEEDED: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def nonce_of(state: str) -> str:
    """Return the nonce of the login with this state. It needs no storage, and nobody else can compute it."""
    return salted_hmac("web.accounts.oidc.nonce", state, algorithm="sha256").hexdigest()


class Endpoints(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """An adapter with the checks that allauth leaves out: issuer, signature, nonce, and the subject of userinfo."""

    @cached_property
    def openid_config(self) -> dict[str, Any]:
        config = self._fetch(settings.OIDC_ISSUER + DISCOVERY)
        if str(config.get("issuer")).rstrip("/") != settings.OIDC_ISSUER:
            raise OAuth2Error(f"the provider says that its issuer is {config.get('issuer')!r}")
        if missing := [name for name in NEEDED if not isinstance(config.get(name), str)]:
            raise OAuth2Error(f"the provider does not say its {', '.join(missing)}")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:  # noqa: ARG002
        return request.build_absolute_uri(reverse("oidc_callback"))

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Check the tokens and return allauth's login. kwargs: `response`, the token endpoint's response.
        Raises OAuth2Error.
        """
        id_token = kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise OAuth2Error("the provider has sent no ID token")
        try:
            claims = read_id_token(
                id_token,
                self._fetch(self.openid_config["jwks_uri"]),
                issuer=self.openid_config["issuer"],
                client_id=app.client_id,
                nonce=nonce_of(request.GET["state"]),
            )
            identity = read_identity(claims, self._userinfo(token.token), settings.OIDC_GROUPS_CLAIM)
        except InvalidToken as error:
            raise OAuth2Error(f"the ID token is not accepted: {error}") from error
        return self.get_provider().sociallogin_from_response(request, identity)

    def _userinfo(self, access_token: str) -> dict[str, Any]:
        url = self.openid_config.get("userinfo_endpoint")
        return self._fetch(url, headers={"Authorization": f"Bearer {access_token}"}) if url else {}

    def _fetch(self, url: str, **options: Any) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            answer = session.get(url, **options)
            answer.raise_for_status()
            content = answer.json()
        if not isinstance(content, Mapping):
            raise OAuth2Error(f"{url} is no JSON object")
        return dict(content)


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """A provider whose app has the issuer as provider_id, so that accounts are found by issuer and subject."""

    oauth2_adapter_class = Endpoints

    def redirect(self, request: HttpRequest, process: str, **kwargs: Any) -> HttpResponse:
        state = secrets.token_urlsafe(32)
        parameters = {"nonce": nonce_of(state), "ui_locales": get_language(), **kwargs.pop("auth_params", {})}
        answer: HttpResponse = super().redirect(
            request, process, state_id=state, auth_params=parameters, **kwargs
        )
        return answer

    def sociallogin_from_response(self, request: HttpRequest, response: Identity) -> Any:
        login = super().sociallogin_from_response(request, response)
        login.identity = response
        return login

    def extract_uid(self, data: Identity) -> str:
        return data.subject

    def extract_extra_data(self, data: Identity) -> dict[str, Any]:  # noqa: ARG002
        """Return no data: only the fields of the account are stored about a person."""
        return {}

    def extract_common_fields(self, data: Identity) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def extract_email_addresses(self, data: Identity) -> list[Any]:  # noqa: ARG002
        """Return no addresses: the account has one address, in its row (features/accounts/profile.py)."""
        return []


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
    code = request.GET.get("error", "")
    return refuse(request, "unreachable" if code == "temporarily_unavailable" else "failed", code)
