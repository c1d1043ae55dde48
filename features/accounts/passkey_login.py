"""Login with a passkey: instead of the password, or after it, instead of a code."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django import forms
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from chat.protocol.errors import ApiError
from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.login_forms import Login
from features.accounts.passkey_ceremonies import (
    MAX_ANSWER_CHARACTERS,
    PasskeyRefused,
    begin_login,
    finish_login,
)
from features.accounts.reauthentication import has_password
from features.accounts.second_factor import check
from features.accounts.second_factor_pages import PendingLogin, pending_user
from features.accounts.staff_groups import follow_groups
from web.attempt_limits import charge, spend
from web.demo_account import may_log_in

logger = logging.getLogger(__name__)

# (logins begun at once, seconds after which one more is allowed), by address: each stores a session.
PER_ADDRESS: Final = (40, 10)


def options_view(view: Callable[[HttpRequest], dict[str, Any]]) -> Callable[..., HttpResponse]:
    """Wrap a view that returns the browser's options. The response has `options`, or a `message` about the error."""

    @require_POST
    @never_cache
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return JsonResponse({"options": view(request)})
        except ValidationError as error:
            return JsonResponse({"message": " ".join(error.messages)}, status=400)
        except PasskeyRefused:
            return JsonResponse({"message": unaccepted_message()}, status=400)
        except ApiError as refused:
            response = JsonResponse({"message": _("Too many attempts")}, status=refused.status)
            response["Retry-After"] = str(refused.retry_after_s or 1)
            return response

    return answer


def unaccepted_message() -> str:
    return _("This passkey was not accepted. Try again, or take another way.")


class PasskeyAnswer(forms.Form):
    credential = forms.CharField(max_length=MAX_ANSWER_CHARACTERS, strip=False)


class PasskeyAlone(PasskeyAnswer):
    """The form of a login with only a passkey.
    It is limited by address only: the account is a claim of the client, and a signature cannot be guessed.
    """

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.user: Any = None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        with link_attempt(self.request) as accept:
            try:
                user = finish_login(self.request, cleaned.get("credential", ""))
            except PasskeyRefused as refused:
                logger.warning("a passkey is refused: %s", refused)
                raise ValidationError(unaccepted_message()) from None
            if not (has_password(user) and may_log_in(user)):
                raise ValidationError(unaccepted_message())
            accept()
        follow_groups(user)
        self.user = user
        return cleaned

    def get_user(self) -> Any:
        return self.user


class PasskeyLogin(Login):
    """Login with only a passkey. The passkey has verified its user, so no second factor is asked for."""

    authentication_form = PasskeyAlone  # type: ignore[assignment]

    def form_valid(self, form: Any) -> HttpResponse:
        return LoginView.form_valid(self, form)


@options_view
def login_options(request: HttpRequest) -> dict[str, Any]:
    spend([charge(PER_ADDRESS, "passkey", address_of(request))])
    return begin_login(request)


class PendingPasskey(PendingLogin):
    form_class = PasskeyAnswer

    def form_valid(self, form: PasskeyAnswer) -> HttpResponse:
        if not check(self.request, self.user, lambda: self._is_accepted(form.cleaned_data["credential"])):
            form.add_error(None, unaccepted_message())
            return self.form_invalid(form)
        return self.complete()

    def _is_accepted(self, answer: str) -> bool:
        try:
            finish_login(self.request, answer, self.user)
        except PasskeyRefused as refused:
            logger.warning("a passkey is refused: %s", refused)
            return False
        return True


@options_view
def pending_options(request: HttpRequest) -> dict[str, Any]:
    user = pending_user(request)
    if user is None:
        raise ValidationError(_("Your login has expired or was ended. Log in to go on where you were."))
    return begin_login(request, user)
