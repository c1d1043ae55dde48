"""The login with a provider of OpenID Connect: allauth's provider and adapter with our checks, and the pages of the login's
start, its callback, and its connection with an account.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.generic import FormView
from requests import RequestException

from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.oidc_admission import Intent, LoginRefused, admit, refuse
from features.accounts.oidc_identity import Identity, InvalidToken, read_id_token, read_identity
from features.accounts.passwords import FRESH_FOR_S, AccountPage, PasswordAgain, has_password
from features.accounts.registration import find_invitation, is_setup_token
from web.accounts import charge, spend

DISCOVERY: Final = "/.well-known/openid-configuration"
NEEDED: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
# (logins begun at once, seconds after which one more is allowed), by address: each asks the provider and stores a
# session.
PER_ADDRESS: Final = (40, 10)
# In the session: the time when the user gave the password to connect the account with the provider.
MAY_CONNECT_AT: Final = "oidc_may_connect_at"


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


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the provider. Query: `next`, and the token of an `invitation` or of the `setup`."""
    after = _next_of(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(after)
    for purpose in ("invitation", "setup"):
        if token := request.GET.get(purpose):
            with link_attempt(request) as accept:
                is_valid = find_invitation(token) if purpose == "invitation" else is_setup_token(token)
                if not is_valid:
                    return refuse(request, "invitation")
                accept()
            return _lead(request, Intent(purpose, token), after)
    return _lead(request, Intent(), after)


@require_safe
@never_cache
def callback(request: HttpRequest) -> HttpResponseBase:
    """Handle the provider's redirect back to us, and complete the login."""
    _require_provider()
    view = OAuth2CallbackView.adapter_view(Endpoints(request, settings.OIDC_ISSUER))
    return _or_refusal(request, lambda: view(request))


@require_safe
@never_cache
@login_required
def again(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the provider and have it authenticate the user again, although the user may be logged in there."""
    _require_provider()
    asked = {"prompt": "login", "max_age": "0"}
    return _lead(request, Intent("again", user=request.user.pk), _next_of(request), **asked)


@require_safe
@never_cache
@login_required
def connect(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the provider to connect the account, after Connection has asked for the password."""
    if time.time() - request.session.pop(MAY_CONNECT_AT, 0) > FRESH_FOR_S:
        return HttpResponseRedirect(reverse("oidc_connection"))
    return _lead(request, Intent("connect", user=request.user.pk), f"{reverse('oidc_connection')}?notice=on")


class Connection(AccountPage, FormView[PasswordAgain]):
    """The page that connects an account with the provider, and disconnects it. Both need the account's password.

    The form does not redirect to the provider itself: the Content Security Policy allows only our pages (form-action).
    """

    form_class = PasswordAgain
    template_name = "accounts/oidc_connection.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        _require_provider()
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "is_connected": self._accounts().exists(),
            "may_connect": self.request.session.get(MAY_CONNECT_AT, 0) > time.time() - FRESH_FOR_S,
        }

    def form_valid(self, form: PasswordAgain) -> HttpResponse:  # noqa: ARG002
        if not self._accounts().exists():
            self.request.session[MAY_CONNECT_AT] = time.time()
            return HttpResponseRedirect(reverse("oidc_connection"))
        if has_password(self.request.user):  # without a password nobody could log in any more
            self._accounts().delete()
        return HttpResponseRedirect(f"{reverse('oidc_connection')}?notice=off")

    def _accounts(self) -> Any:
        return SocialAccount.objects.filter(user_id=self.request.user.pk, provider=settings.OIDC_ISSUER)


def _lead(request: HttpRequest, intent: Intent, after: str, **parameters: str) -> HttpResponseBase:
    _require_provider()
    spend([charge(PER_ADDRESS, "oidc", address_of(request))])
    provider = SocialAccounts(request).get_provider(request, settings.OIDC_ISSUER)
    return _or_refusal(
        request,
        lambda: provider.redirect(
            request, AuthProcess.LOGIN, next_url=after, data=list(intent), auth_params=parameters
        ),
    )


def _or_refusal(request: HttpRequest, ask: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Return the response of ask(), or the page that says how the provider failed."""
    try:
        return ask()
    except RequestException as error:
        return refuse(request, "unreachable", error)
    except OAuth2Error as error:
        return refuse(request, "failed", error)


def _next_of(request: HttpRequest) -> str:
    """Return the address to go to afterwards. It is always an address of this site."""
    after = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        after, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return after if is_ours else settings.LOGIN_REDIRECT_URL


def _require_provider() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404
