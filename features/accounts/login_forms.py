"""The login forms of the page and the admin, which apply the limits of login_attempt.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from chat.protocol.errors import ApiError
from features.accounts.login_attempt import login_attempt, remember_device
from features.accounts.passkey_ceremonies import has_passkeys
from features.accounts.reauthentication import require_passwords
from features.accounts.second_factor import has_second_factor
from features.accounts.staff_groups import follow_groups
from web.demo_account import may_log_in


class LimitedLogin(AuthenticationForm):
    # For SESSION_COOKIE_AGE; otherwise until the browser is closed.
    stays = forms.BooleanField(required=False, initial=True)

    def clean(self) -> dict[str, Any]:
        if not settings.PASSWORD_LOGIN:
            raise ValidationError(_("Nobody logs in with a password here."))
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password") or self.request is None:
            return super().clean()
        with login_attempt(self.request, name) as attempt:
            try:
                return super().clean()
            finally:
                # This also counts if the form refuses a user who may not use the admin.
                attempt.has_right_password = self.get_user() is not None

    def confirm_login_allowed(self, user: Any) -> None:
        follow_groups(user)
        super().confirm_login_allowed(user)
        if not may_log_in(user):
            raise self.get_invalid_login_error()


class LimitedAdminLogin(LimitedLogin, AdminAuthenticationForm):
    def confirm_login_allowed(self, user: Any) -> None:
        super().confirm_login_allowed(user)
        if has_second_factor(user):
            raise ValidationError(_("Your account asks for a code too: log in on the page of the chats."))


class Login(LoginView):
    template_name = "accounts/login.html"
    authentication_form = LimitedLogin
    redirect_authenticated_user = True
    extra_context = {"may_register": lambda: settings.REGISTRATION == "open"}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        if not form.cleaned_data["stays"]:
            self.request.session.set_expiry(0)
        if not has_second_factor(user):
            return super().form_valid(form)
        answer: HttpResponse = perform_login(self.request, user, "none", self.get_success_url())
        return answer


def with_passwords(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap a view about passwords as limited() does; without password logins it responds with 404."""
    limited_view = limited(view)

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        require_passwords()
        return limited_view(request, *args, **kwargs)

    return answer


def limited(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap a view that checks a password.
    A refused attempt gets a page with the time to wait; a successful one makes the browser known.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except ApiError as refused:
            return _refusal(request, refused)
        if request.method == "POST" and response.status_code == 302 and request.user.is_authenticated:
            remember_device(response, request.user.get_username())
        return response

    return answer


def _refusal(request: HttpRequest, refused: ApiError) -> HttpResponse:
    """Render the page with the time to wait and a link back to the form."""
    wait_s = refused.retry_after_s or 1
    # The login form has sent the target of its redirect; LoginView checks that it is an address of this site.
    after = request.POST.get("next")
    context = {
        "wait_s": wait_s,
        "time_left": f"{wait_s // 60}:{wait_s % 60:02}",
        "is_busy": refused.code == "login_busy",
        "again": f"{request.path}?{urlencode({'next': after})}" if after else request.get_full_path(),
    }
    response = render(request, "accounts/too_many_attempts.html", context, status=refused.status)
    response["Retry-After"] = str(wait_s)
    return response


def login_ways(request: HttpRequest) -> dict[str, Any]:
    """Return the ways to log in.
    oidc_name: empty without a provider. has_passkeys: a callable, since only some templates need it.
    """
    return {
        "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "has_passkeys": lambda: has_passkeys(request),
        "has_password_login": settings.PASSWORD_LOGIN,
    }
