"""The OpenID Connect provider for allauth.
It covers discovery, the request with PKCE, state and nonce, and the checks of the response.
"""

import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language

from features.accounts.oidc_identity import Identity, InvalidToken, read_id_token, read_identity

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
            found = answer.json()
        if not isinstance(found, Mapping):
            raise OAuth2Error(f"{url} is no JSON object")
        return dict(found)


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
