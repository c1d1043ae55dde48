"""The login with a password, in the page and the admin, and its second step: the code of an app.
The limits are those of login_attempt.py; passkey_pages.py and oidc.py have the other ways in.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Final
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.stages import LoginStage, LoginStageController
from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.generic import FormView

from chat.protocol.errors import ApiError
from features.accounts.login_attempt import login_attempt, remember_device
from features.accounts.passkeys import has_passkeys, has_usable_passkey
from features.accounts.passwords import CONFIRMED_AT, has_password, require_passwords
from features.accounts.second_factor import (
    Code,
    has_app,
    has_second_factor,
    is_right,
)
from features.accounts.staff_groups import follow_groups
from web.accounts import may_log_in

# In the state of the login: Django's digest of the password, which sessions hold as well.
PASSWORD_DIGEST: Final = "password_digest"  # noqa: S105  a name


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


class CodeStage(LoginStage):  # type: ignore[misc]
    """The stage between a right password and the login. It is skipped for a provider, which has its own factors.
    Its state holds the digest of the password that was given, by which a new password ends the login.
    """

    key = "code"
    urlname = "login_code"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        is_from_provider = "sociallogin" in (self.login.signal_kwargs or {})
        if is_from_provider or not has_second_factor(self.login.user):
            return None, True
        self.state[PASSWORD_DIGEST] = self.login.user.get_session_auth_hash()
        return HttpResponseRedirect(reverse("login_code")), True


class PendingLogin(FormView[Any]):
    """The second step of a login, after the right password."""

    template_name = "accounts/login_code.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = pending_user(request)
        if user is None:
            return HttpResponseRedirect(f"{reverse('login')}?notice=expired")
        self.user = user
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "has_app": has_app(self.user),
            "has_passkey": has_usable_passkey(self.request, self.user),
        }

    def complete(self) -> HttpResponse:
        """Log the user in."""
        answer: HttpResponse = LoginStageController.enter(self.request, CodeStage.key).exit()
        return answer


class LoginCode(PendingLogin):
    form_class = Code

    def form_valid(self, form: Code) -> HttpResponse:
        if not is_right(self.request, self.user, form.cleaned_data["code"]):
            form.add_error("code", _("This code is not right, or it was used already."))
            return self.form_invalid(form)
        return self.complete()


def pending_user(request: HttpRequest) -> Any:
    """Return the user who has given the right password and no code yet; None if there is none.
    The account may have been deleted or got another password since, and the site may have been started without
    password logins.
    """
    stage = LoginStageController.enter(request, CodeStage.key)
    user = stage and stage.login.user
    if user is None or not (has_password(user) and may_log_in(user)):
        return None
    digest = stage.state.get(PASSWORD_DIGEST, "")
    return user if constant_time_compare(digest, user.get_session_auth_hash()) else None


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    def get_login_stages(self) -> list[str]:
        return ["features.accounts.login.CodeStage"]

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        request.session[CONFIRMED_AT] = time.time()
        answer: HttpResponse = super().post_login(request, user, **kwargs)
        return answer

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Drop allauth's messages. Pages show notices of their own, and the admin would display these."""
