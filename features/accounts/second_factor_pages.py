"""The pages of the second factor: the code at the login, and the setup in the profile."""

import base64
from typing import Any, Final

from allauth.account.stages import LoginStage, LoginStageController
from allauth.mfa.adapter import get_adapter
from django import forms
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from features.accounts.passkey_ceremonies import has_usable_passkey
from features.accounts.reauthentication import PasswordAgain, WithPasswordMixin, has_password
from features.accounts.second_factor import (
    has_app,
    has_second_factor,
    is_right,
    new_recovery_codes,
    new_secret,
    period_of,
    remove_app,
    switch_on,
)
from web.demo_account import may_log_in

MAX_CODE_CHARACTERS: Final = 20
# In the session: the displayed secret, until a code proves that an app has it.
SECRET: Final = "second_factor_secret"  # noqa: S105  a name
# In the state of the login: Django's digest of the password, which sessions hold as well.
PASSWORD_DIGEST: Final = "password_digest"  # noqa: S105  a name


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


class Code(forms.Form):
    code = forms.CharField(max_length=MAX_CODE_CHARACTERS)


class PasswordAndCode(PasswordAgain, Code):
    pass


@method_decorator(never_cache, name="dispatch")
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


@method_decorator(never_cache, name="dispatch")
class SecondFactor(LoginRequiredMixin, WithPasswordMixin, FormView[PasswordAndCode]):
    """The page that turns the code of an app on and off, and makes recovery codes. Each needs password and code."""

    form_class = PasswordAndCode
    template_name = "accounts/second_factor.html"

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_on = has_app(self.request.user)
        context = super().get_context_data(**kwargs) | {"is_on": is_on}
        return context if is_on else context | self._shown_secret()

    def form_valid(self, form: PasswordAndCode) -> HttpResponse:
        user, code, action = self.request.user, form.cleaned_data["code"], self.request.POST.get("action")
        if (action == "on") == has_app(user):
            # Another tab has done it already.
            return HttpResponseRedirect(reverse("second_factor"))
        if action == "on":
            return self._switch_on(form, code)
        if not is_right(self.request, user, code):
            return self._refuse(form)
        if action == "codes":
            return self.render_to_response(self.get_context_data(codes=new_recovery_codes(user)))
        remove_app(user)
        return HttpResponseRedirect(f"{reverse('second_factor')}?notice=off")

    def _switch_on(self, form: PasswordAndCode, code: str) -> HttpResponse:
        secret = self.request.session.get(SECRET, "")
        period = period_of(secret, code) if secret else None
        if period is None:
            return self._refuse(form)
        codes = switch_on(self.request.user, secret, period)
        del self.request.session[SECRET]
        if not codes:  # the account already has recovery codes, from its passkeys
            return HttpResponseRedirect(f"{reverse('second_factor')}?notice=on")
        return self.render_to_response(self.get_context_data(codes=codes))

    def _refuse(self, form: PasswordAndCode) -> HttpResponse:
        form.add_error("code", _("This code is not right, or it was used already."))
        return self.form_invalid(form)

    def _shown_secret(self) -> dict[str, str]:
        secret: str = self.request.session.setdefault(SECRET, new_secret())
        adapter = get_adapter()
        svg = adapter.build_totp_svg(adapter.build_totp_url(self.request.user, secret))
        return {
            "secret": secret,
            "picture": f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}",
        }
