"""The pages of the login with the provider: its start, its callback, and its connection with an account."""

import time
from typing import Any, Final

from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.generic import FormView
from requests import RequestException

from features.accounts.first_admin import is_setup_token
from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.oidc_admission import Intent, refuse
from features.accounts.oidc_provider import Endpoints, SocialAccounts
from features.accounts.reauthentication import MAX_AGE_S, PasswordAgain, has_password, is_fresh
from features.accounts.registration import find_invitation
from web.attempt_limits import charge, spend

# (logins begun at once, seconds after which one more is allowed), by address: each asks the provider and stores a
# session.
PER_ADDRESS: Final = (40, 10)
# In the session: the time when the user gave the password to connect the account with the provider.
MAY_CONNECT_AT: Final = "oidc_may_connect_at"


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
    try:
        answer: HttpResponseBase = OAuth2CallbackView.adapter_view(Endpoints(request, settings.OIDC_ISSUER))(
            request
        )
    except RequestException as error:
        return refuse(request, "unreachable", error)
    except OAuth2Error as error:
        return refuse(request, "failed", error)
    return answer


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
    if time.time() - request.session.pop(MAY_CONNECT_AT, 0) > MAX_AGE_S:
        return HttpResponseRedirect(reverse("oidc_connection"))
    return _lead(request, Intent("connect", user=request.user.pk), f"{reverse('oidc_connection')}?notice=on")


class Connection(LoginRequiredMixin, FormView[PasswordAgain]):
    """The page that connects an account with the provider, and disconnects it. Both need the account's password.

    The form does not redirect to the provider itself: the Content Security Policy allows only our pages (form-action).
    """

    form_class = PasswordAgain
    template_name = "accounts/oidc_connection.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        _require_provider()
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "is_connected": self._accounts().exists(),
            "is_fresh": is_fresh(self.request),
            "may_connect": self.request.session.get(MAY_CONNECT_AT, 0) > time.time() - MAX_AGE_S,
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
    try:
        return provider.redirect(
            request, AuthProcess.LOGIN, next_url=after, data=list(intent), auth_params=parameters
        )
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
