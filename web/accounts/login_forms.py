"""The login forms of the page and the admin, within the limits of login_attempt.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from chat.protocol.errors import ApiError
from web.accounts.demo_account import may_log_in
from web.accounts.known_device import remember_device
from web.accounts.login_attempt import login_attempt
from web.accounts.staff_groups import follow_groups


class LimitedLogin(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password") or self.request is None:
            return super().clean()
        with login_attempt(self.request, name) as attempt:
            try:
                return super().clean()
            finally:
                # Also where the form refuses someone who may not use the admin.
                attempt.has_right_password = self.get_user() is not None

    def confirm_login_allowed(self, user: Any) -> None:
        follow_groups(user)
        super().confirm_login_allowed(user)
        if not may_log_in(user):
            raise self.get_invalid_login_error()


class LimitedAdminLogin(LimitedLogin, AdminAuthenticationForm):
    pass


def limited(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap a view with a password: a refused attempt is told how long to wait, a successful one makes the browser known."""

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
    """Render the page with the time that is left, and the way back to the form."""
    wait_s = refused.retry_after_s or 1
    # The login form has sent where to go afterwards; LoginView checks that it is an address of this site.
    after = request.POST.get("next")
    context = {
        "wait_s": wait_s,
        "time_left": f"{wait_s // 60}:{wait_s % 60:02}",
        "is_busy": refused.code == "login_busy",
        "again": f"{request.path}?{urlencode({'next': after})}" if after else request.get_full_path(),
    }
    response = render(request, "web/too_many_attempts.html", context, status=refused.status)
    response["Retry-After"] = str(wait_s)
    return response
