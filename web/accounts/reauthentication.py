"""Who is logged in confirms who they are, before what takes an account away: by the password, or by the provider."""

import time
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from web.accounts.login_attempt import login_attempt

# In the session: when its user has last logged in with the provider (web/accounts/oidc/).
CONFIRMED_AT: Final = "oidc_confirmed_at"
MAX_AGE_S: Final = 300


def has_password(user: Any) -> bool:
    """Return whether a password lets the user in."""
    return bool(settings.PASSWORD_LOGIN and user.has_usable_password())


class WithPasswordMixin:
    """A page about the password and what stands beside it: who has none is led to the profile."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not has_password(request.user):
            return HttpResponseRedirect(reverse("profile"))
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        return answer


def require_passwords() -> None:
    """Raises Http404 where nobody logs in with a password."""
    if not settings.PASSWORD_LOGIN:
        raise Http404


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the login with the provider is a few minutes old."""
    return bool(time.time() - request.session.get(CONFIRMED_AT, 0) < MAX_AGE_S)


def is_confirmed(request: HttpRequest, password: str) -> bool:
    """A password is guessed no faster here than at the login. Raises ApiError, as login_attempt()."""
    user = request.user
    if not has_password(user):
        return is_fresh(request)
    with login_attempt(request, user.get_username()) as attempt:
        attempt.has_right_password = user.check_password(password)
    return attempt.has_right_password


def unconfirmed_message(user: Any) -> str:
    if has_password(user):
        return str(PasswordChangeForm.error_messages["password_incorrect"])
    return _("Log in with %(name)s once more first.") % {"name": settings.OIDC_NAME}
