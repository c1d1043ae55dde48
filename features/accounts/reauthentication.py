"""Confirmation of the user's identity, by password or by the provider, before actions that could cost the account."""

import time
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from features.accounts.login_attempt import login_attempt

# In the session: the time of the user's last login with the provider (features/accounts/).
CONFIRMED_AT: Final = "oidc_confirmed_at"
MAX_AGE_S: Final = 300


def has_password(user: Any) -> bool:
    """Return whether the user can log in with a password."""
    return bool(settings.PASSWORD_LOGIN and user.has_usable_password())


class WithPasswordMixin:
    """A page about the password and related settings. Users without a password are redirected to the profile."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not has_password(request.user):
            return HttpResponseRedirect(reverse("profile"))
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        return answer


def require_passwords() -> None:
    """Raise Http404 where password logins are off."""
    if not settings.PASSWORD_LOGIN:
        raise Http404


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the provider confirmed the user within MAX_AGE_S."""
    return bool(time.time() - request.session.get(CONFIRMED_AT, 0) < MAX_AGE_S)


def is_confirmed(request: HttpRequest, password: str) -> bool:
    """Return whether the password, or for accounts without one the provider, confirms the user.
    Guesses are limited as at the login. Raises ApiError as login_attempt() does.
    """
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


class PasswordAgain(forms.Form):
    """A form that asks for the password again.
    For accounts without a password, the provider confirms the identity.
    """

    current_password = forms.CharField(required=False, strip=False, max_length=4096)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not is_confirmed(self.request, password):
            raise forms.ValidationError(unconfirmed_message(self.request.user))
        return password
